package bell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/alert"
	"sluice/internal/hook"
	"sluice/internal/queue"
)

// Times of the stage.
const (
	lookEvery  = 2 * time.Second
	lookLimit  = 10 * time.Second
	hereEvery  = 5 * time.Second
	writeLimit = 5 * time.Second
	sendLimit  = 15 * time.Second
	afterStop  = 3 * time.Second // for tries under way
	quietFor   = time.Minute     // between two lines about the same trouble
)

// maxTries is how often a compare-and-set is tried that others outpace.
const maxTries = 20

// Config describes a Bell. Every function must be safe for concurrent use.
type Config struct {
	Node string     // unique id of this process, one subject token; required
	Here alert.Node // what others may know of it
	// Judges says that this process may do the duty. One that does not only says that it is there.
	Judges  bool
	Rules   func() alert.Rules                                     // required
	Repeat  func() time.Duration                                   // after which what still fires is told again; required
	Hooks   func() []Hook                                          // required
	Read    func(ctx context.Context, s alert.State) alert.Reading // all but Refused and Nodes; required where it judges
	Refused func(now time.Time) int                                // messages that this process refused within alert.Window; nil: none
	Link    string                                                 // to the page with the alerts; empty: none
	Sender  *hook.Sender                                           // required
	Log     zerolog.Logger
}

// Bell is the stage. It is safe for concurrent use.
type Bell struct {
	queue *queue.Queue
	cfg   Config
	log   zerolog.Logger
	rest  zerolog.Logger // for what comes again and again while something is away
	tries sync.WaitGroup
}

// New returns the stage; nothing is looked at before Run.
func New(q *queue.Queue, cfg Config) (*Bell, error) {
	if cfg.Node == "" || cfg.Rules == nil || cfg.Repeat == nil || cfg.Hooks == nil || cfg.Sender == nil || cfg.Judges && cfg.Read == nil {
		return nil, errors.New("bell config: Node, Rules, Repeat, Hooks, Sender and, where it judges, Read are required")
	}
	log := cfg.Log.With().Str("stage", "alerts").Logger()
	return &Bell{queue: q, cfg: cfg, log: log, rest: log.Sample(&zerolog.BurstSampler{Burst: 1, Period: quietFor})}, nil
}

// Run says that this process is there, and looks after the alerts whenever it is its turn,
// until ctx ends. Then the process says goodbye.
func (b *Bell) Run(ctx context.Context) error {
	defer b.cfg.Sender.Close()
	trying, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var work sync.WaitGroup
	work.Go(func() { b.every(ctx, hereEvery, b.beHere) })
	if b.cfg.Judges {
		work.Go(func() { b.every(ctx, lookEvery, func(ctx context.Context) error { return b.look(ctx, trying) }) })
	}
	work.Wait()
	defer time.AfterFunc(afterStop, cut).Stop()
	b.tries.Wait()
	return b.goodbye(ctx)
}

func (b *Bell) every(ctx context.Context, period time.Duration, do func(context.Context) error) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, lookLimit)
		if err := do(limited); err != nil && ctx.Err() == nil {
			b.rest.Warn().Err(err).Msg("alerts cannot be looked after, trying again")
		}
		cancel()
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// State returns what fires, what has ended and what waits to be told.
func (b *Bell) State(ctx context.Context) (alert.State, error) {
	s, _, err := b.load(ctx)
	return s, err
}

// Test has a message sent to each webhook of the rules, by whoever does the duty, and returns
// how many there are.
func (b *Bell) Test(ctx context.Context) (int, error) {
	ids := ids(b.cfg.Hooks())
	if len(ids) == 0 {
		return 0, nil
	}
	return len(ids), b.update(ctx, func(s alert.State) (alert.State, bool) { return s.Test(ids, time.Now().UTC()), true })
}

func ids(hooks []Hook) []string {
	var all []string
	for _, h := range hooks {
		all = append(all, h.ID)
	}
	return all
}

func (b *Bell) load(ctx context.Context) (alert.State, uint64, error) {
	var s alert.State
	body, rev, err := b.queue.Alerts(ctx)
	if err != nil || body == nil {
		return s, rev, err
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return s, rev, fmt.Errorf("decode the alerts: %w", err)
	}
	return s, rev, nil
}

func (b *Bell) store(ctx context.Context, s alert.State, rev uint64) error {
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the alerts: %w", err)
	}
	return b.queue.SetAlerts(ctx, body, rev)
}

// update changes the state, also where others write at the same time. change may be called
// several times; false: nothing is to be written.
func (b *Bell) update(ctx context.Context, change func(alert.State) (alert.State, bool)) error {
	for range maxTries {
		s, rev, err := b.load(ctx)
		if err != nil {
			return err
		}
		s, wanted := change(s)
		if !wanted {
			return nil
		}
		if err := b.store(ctx, s, rev); !errors.Is(err, queue.ErrLost) {
			return err
		}
	}
	return fmt.Errorf("store the alerts: %w", queue.ErrLost)
}
