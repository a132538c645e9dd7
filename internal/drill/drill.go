package drill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sluice/internal/report"
)

// scenario is one drill.
type scenario struct {
	name  string
	about string
	quick time.Duration // takes about so long
	full  time.Duration
	play  func(ctx context.Context, d *drill) error
}

// scenarios are all drills, in the order in which All plays them.
func scenarios() []scenario {
	return []scenario{
		{"burst", "far more messages than the vendors can take, all at once", 12 * time.Second, 30 * time.Second, burst},
		{"batchflood", "2,000 jobs of batch against a steady chat", 45 * time.Second, 90 * time.Second, batchFlood},
		{"vendor-down", "a vendor's connections break", 22 * time.Second, 52 * time.Second, vendorDown},
		{"vendor-slow", "a vendor's first token comes late", 22 * time.Second, 52 * time.Second, vendorSlow},
		{"vendor-429", "a vendor refuses with 429 and Retry-After", 22 * time.Second, 52 * time.Second, vendorThrottles},
		{"vendor-hang", "a vendor takes calls and never answers", 22 * time.Second, 52 * time.Second, vendorHangs},
		{"tool-slow", "a tool that the agent calls becomes far slower than its timeout", 22 * time.Second, 52 * time.Second, toolSlow},
		{"pool-exhausted", "our own connections to a vendor are all in use", 20 * time.Second, 20 * time.Second, poolExhausted},
		{"nats-node", "nodes of the NATS cluster are killed and come back", 48 * time.Second, 95 * time.Second, natsNode},
		{"kill-dispatcher", "one of two dispatchers is killed, and then the one with the controller", 42 * time.Second, 42 * time.Second, killDispatcher},
		{"rolling", "every process is replaced, one after the other", 52 * time.Second, 110 * time.Second, rolling},
		{"db-down", "the database goes away and comes back", 33 * time.Second, 38 * time.Second, dbDown},
		{"degrade", "the load rises to 3 times the capacity and falls again", 66 * time.Second, 130 * time.Second, degrade},
		{"goodput", "customers who lose patience, at 0.5, 1, 1.5 and 3 times the capacity", 58 * time.Second, 130 * time.Second, goodput},
	}
}

// Scenarios returns the names of all drills.
func Scenarios() []string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return names
}

// Run plays the drills that cfg names and calls each with the report of every one as soon
// as it is there. An error means that nothing was played, or that ctx ended; a drill that
// could not be played to its end has a Fault in its report.
func Run(ctx context.Context, cfg Config, each func(*Report) error) (*Reports, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	all := &Reports{OK: true, Drills: []*Report{}}
	for _, s := range scenarios() {
		if cfg.Scenario != All && cfg.Scenario != s.name {
			continue
		}
		r, err := runAgain(ctx, cfg, s)
		if err != nil {
			return all, err
		}
		all.OK = all.OK && r.OK
		all.Drills = append(all.Drills, r)
		if err := each(r); err != nil {
			return all, err
		}
	}
	return all, nil
}

// runAgain plays a drill until it passes, or as often as it may.
func runAgain(ctx context.Context, cfg Config, s scenario) (*Report, error) {
	var before []string
	for try := 0; ; try++ {
		r, err := run(ctx, cfg, s)
		if err != nil {
			return nil, err
		}
		if r.OK || try == cfg.Again {
			r.Notes = append(before, r.Notes...)
			return r, nil
		}
		before = append(before, fmt.Sprintf("try %d failed: %s", try+1, strings.Join(r.failures(), "; ")))
	}
}

// run plays one drill.
func run(ctx context.Context, cfg Config, s scenario) (_ *Report, err error) {
	d := &drill{cfg: cfg, scenario: s, startedAt: time.Now()}
	d.out = &Report{
		Scenario: s.name, About: s.about, Quick: cfg.Quick, StartedAt: d.startedAt.UTC(),
		Phases: []Phase{}, Checks: []Check{}, Tables: []Table{}, Notes: []string{},
	}
	if d.dir, err = os.MkdirTemp(cfg.Dir, "sluice-drill-"); err != nil {
		return nil, fmt.Errorf("make the drill's directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(d.dir) }()
	before := machineLoad()
	showing, hide := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup
	beside.Go(func() { cfg.Show.Run(showing, d) })
	var late time.Duration
	beside.Go(func() { late = lateness(showing) })
	d.say("starting")
	playing, stop := context.WithCancel(ctx)
	fault := s.play(playing, d)
	stop()
	d.free()
	hide()
	beside.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if fault != nil {
		d.out.Fault = fault.Error()
	}
	d.machine(before, late)
	d.out.TookMS = time.Since(d.startedAt).Milliseconds()
	d.out.judge()
	return d.out, nil
}

// drill is one on its way. Only say, Way and String may be called from several goroutines.
type drill struct {
	cfg       Config
	scenario  scenario
	out       *Report
	dir       string
	startedAt time.Time
	begunAt   time.Time // when the load began
	vendors   *vendors
	owned     []func() // what frees what was started, in the order of starting

	mu  sync.Mutex
	now string
}

// own has free called when the drill is over, the newest first.
func (d *drill) own(free func()) { d.owned = append(d.owned, free) }

func (d *drill) free() {
	for i := len(d.owned) - 1; i >= 0; i-- {
		d.owned[i]()
	}
	d.owned = nil
}

// long is how long something takes that takes so long in a quick drill.
func (d *drill) long(quick time.Duration) time.Duration {
	if d.cfg.Quick {
		return quick
	}
	return 3 * quick
}

// subdir makes a directory of the drill's own.
func (d *drill) subdir(name string) (string, error) {
	dir := filepath.Join(d.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make %s: %w", dir, err)
	}
	return dir, nil
}

// begin is called when the load begins.
func (d *drill) begin(name string) {
	d.begunAt = time.Now()
	d.mark(name, d.begunAt)
}

// at waits until an instant after the beginning, at which a phase begins, and returns it.
func (d *drill) at(ctx context.Context, after time.Duration, phase string) (time.Time, error) {
	if err := sleep(ctx, time.Until(d.begunAt.Add(after))); err != nil {
		return time.Time{}, err
	}
	now := time.Now()
	d.mark(phase, now)
	return now, nil
}

func (d *drill) mark(phase string, at time.Time) {
	d.say(phase)
	d.out.Phases = append(d.out.Phases, Phase{phase, at.Sub(d.begunAt).Milliseconds()})
}

// say tells the progress what is going on.
func (d *drill) say(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = what
}

// Way is the time that has passed of what a drill takes about.
func (d *drill) Way() (done, total int) {
	takes := d.scenario.full
	if d.cfg.Quick {
		takes = d.scenario.quick
	}
	return int(min(time.Since(d.startedAt), takes) / time.Second), int(takes / time.Second)
}

// String tells what is going on.
func (d *drill) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.scenario.name + ": " + d.now
}

// check notes a promise.
func (d *drill) check(name, bound, measured string, ok bool) {
	d.out.Checks = append(d.out.Checks, Check{name, bound, measured, ok})
}

// atMost checks a duration.
func (d *drill) atMost(name string, bound, measured time.Duration) {
	d.check(name, "≤ "+short(bound), short(measured), measured <= bound)
}

// none checks that a count is 0.
func (d *drill) none(name string, n int) { d.check(name, "0", fmt.Sprint(n), n == 0) }

// share checks that a part of a whole is at least so large.
func (d *drill) share(name string, bound float64, part, whole int) {
	got := 1.0
	if whole > 0 {
		got = float64(part) / float64(whole)
	}
	d.check(name, "≥ "+percent(bound), fmt.Sprintf("%s, %d of %d", percent(got), part, whole), got >= bound && whole > 0)
}

func (d *drill) table(name string, g report.Grid) {
	d.out.Tables = append(d.out.Tables, Table{name, g})
}

func (d *drill) note(format string, args ...any) {
	d.out.Notes = append(d.out.Notes, fmt.Sprintf(format, args...))
}

// sleep waits on a timer, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// short writes a duration to the millisecond, or to the hundredth of a second.
func short(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
