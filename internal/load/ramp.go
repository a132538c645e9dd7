package load

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/llm"
	"sluice/internal/report"
)

// A step begins calls for its time, but never fewer nor many more than these.
const (
	leastOfStep   = 5
	mostOfStep    = 20
	mostPerWorker = 4
)

const (
	refinements  = 3                // steps between the last good and the first bad one
	afterRefusal = time.Second      // pause, unless the vendor asks for a longer one
	longestPause = 15 * time.Second // whatever it asks for
)

// light is the question of every call, and the most tokens of its answer.
const (
	light       = "Answer with the one word: ready."
	lightTokens = 8
)

// Ramp raises the number of light calls at once in steps until the vendor's throughput
// no longer grows, its calls become slow, or it refuses or fails; then it looks more
// closely between the last step below that knee and the first one beyond it. It ends
// early when a budget is used up.
//
// An error means that there is nothing to report: a bad config, or a vendor that refuses
// what is sent to it.
func Ramp(ctx context.Context, model llms.Model, a Account, cfg RampConfig, show report.Progress) (*RampReport, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &ramp{model: model, cfg: cfg.withDefaults(), out: &RampReport{
		Account: a, StartedAt: time.Now().UTC(), Steps: []Step{},
	}}
	watching, leave := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup
	beside.Go(func() { show.Run(watching, r) })
	err := r.climb(ctx)
	leave()
	beside.Wait()
	if err != nil {
		return nil, err
	}
	r.out.finish(ctx.Err() != nil)
	return r.out, nil
}

// ramp is one on its way.
type ramp struct {
	model llms.Model
	cfg   RampConfig
	out   *RampReport

	mu     sync.Mutex // guards what the calls of a step share
	now    int        // calls at once
	plan   int        // steps in all, as far as is known
	begun  int
	tokens int
}

// climb takes the steps, and then those between.
func (r *ramp) climb(ctx context.Context) error {
	plan := stepsUpTo(r.cfg.Max)
	r.set(func() { r.plan = len(plan) + refinements })
	var good, bad *Step
	for _, n := range plan {
		s, err := r.step(ctx, n, good)
		if err != nil || s == nil {
			return err
		}
		if s.Why != "" {
			bad = s
			break
		}
		good = s
	}
	for range refinements {
		if good == nil || bad == nil {
			return nil
		}
		n := between(good.AtOnce, bad.AtOnce)
		if n == 0 {
			return nil
		}
		s, err := r.step(ctx, n, good)
		if err != nil || s == nil {
			return err
		}
		if s.Why != "" {
			bad = s
		} else {
			good = s
		}
	}
	return nil
}

// step keeps n calls at once in flight for a while. nil: the ramp ends here, without it.
func (r *ramp) step(ctx context.Context, n int, below *Step) (*Step, error) {
	if !r.affords(n) {
		r.out.Ended = fmt.Sprintf("the budget of %d calls and %d tokens is used up", r.cfg.Calls, r.cfg.Tokens)
		return nil, nil
	}
	r.set(func() { r.now = n })
	s := &tried{}
	begun, most := 0, max(mostOfStep, mostPerWorker*n)
	end := time.Now().Add(r.cfg.Step)
	more := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		enough := begun >= leastOfStep && !time.Now().Before(end)
		if ctx.Err() != nil || enough || begun >= most || s.stop() || !r.affordsLocked(1) {
			return false
		}
		begun++
		r.begun++
		return true
	}
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			for more() {
				s.add(r.call(ctx))
			}
		})
	}
	workers.Wait()
	if s.rejected != nil {
		return nil, fmt.Errorf("the vendor takes no such call: %w", s.rejected)
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	step := s.step(n)
	var base *Step
	if len(r.out.Steps) > 0 {
		base = &r.out.Steps[0]
	}
	step.Why, step.Hard = step.judge(base, below)
	r.set(func() { r.out.Steps = append(r.out.Steps, step) })
	if step.Refused > 0 {
		pause(ctx, min(max(s.retryAfter, afterRefusal), longestPause))
	}
	return &step, nil
}

// call makes one light call.
func (r *ramp) call(ctx context.Context) sampled {
	begun := time.Now()
	timed, timing := llm.WithTiming(ctx)
	resp, err := r.model.GenerateContent(timed,
		[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, light)},
		llms.WithMaxTokens(lightTokens), llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	usage := llm.UsageOf(resp)
	tokens := usage.PromptTokens + usage.CompletionTokens
	if tokens == 0 {
		tokens = len(light)/3 + lightTokens // a vendor that does not tell must not be free
	}
	r.set(func() { r.tokens += tokens })
	return sampled{took: time.Since(begun), first: timing.FirstToken(), tokens: tokens, err: err}
}

func (r *ramp) affords(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.affordsLocked(n)
}

func (r *ramp) affordsLocked(n int) bool {
	return r.begun+n <= r.cfg.Calls && r.tokens < r.cfg.Tokens
}

func (r *ramp) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// Way counts the steps.
func (r *ramp) Way() (done, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.out.Steps), r.plan
}

// String tells of the present step.
func (r *ramp) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%d at once, %d calls and %d tokens so far", r.now, r.begun, r.tokens)
}
