package worker

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/hook"
)

// Hooks is where webhooks wait.
type Hooks interface {
	// WatchHooks gives every entry to visit and each later change of one, until ctx ends or the
	// engine ends the watch. caught is called once all that was there was given.
	WatchHooks(ctx context.Context, visit func(chat.Hook), caught func()) error
	// SetHook writes an entry over the revision that it has. An error says that nothing was
	// written, or that nobody knows.
	SetHook(ctx context.Context, h chat.Hook) (chat.Hook, error)
	// HookBody returns the body of an entry; nil: it is kept no more.
	HookBody(ctx context.Context, id string) ([]byte, error)
	// HookOff reports whether nothing is sent to a tenant's endpoint.
	HookOff(ctx context.Context, tenant, url string) (bool, error)
	TurnHookOff(ctx context.Context, off chat.HookOff) error
}

// DelivererConfig describes a Deliverer.
type DelivererConfig struct {
	Sender *hook.Sender // required
	// Secrets returns what a tenant's webhooks are signed with at an instant. Required.
	Secrets func(ctx context.Context, tenant string, now time.Time) ([]string, error)
	// Endpoint returns where a tenant wants what belongs to no callback; empty: nowhere. Required.
	Endpoint func(tenant string) string
	Random   func() float64 // from 0 to below 1; nil: at random
	Log      zerolog.Logger
}

// Limits of the deliverer.
const (
	atOnce       = 256 // tries under way in a process
	atOnceTenant = 16  // of one tenant's
	atOnceHost   = 4   // and of one tenant's to one host
	lease        = 30 * time.Second
	afterStop    = 3 * time.Second // for tries under way once the deliverer stops
	writeLimit   = 5 * time.Second
	lostPause    = time.Second     // before a look at an entry that could not be written
	rewatch      = time.Second     // before a watch that ended is opened again
	watchFor     = 5 * time.Minute // one watch: a new one reads everything again
)

// Deliverer sends the webhooks of the outbox. Any number of processes may: whoever writes the
// beginning of a try into the entry makes it. A process that dies leaves a try that counts as
// lost after 20 s, and is made again under the same id: receivers get each message at least once.
type Deliverer struct {
	outbox Hooks
	cfg    DelivererConfig
	log    zerolog.Logger
	wake   chan struct{} // holds a token when there is something to look at

	mu    sync.Mutex
	lines *lines
}

// NewDeliverer returns a deliverer; nothing is sent before Run.
func NewDeliverer(o Hooks, cfg DelivererConfig) (*Deliverer, error) {
	if cfg.Sender == nil || cfg.Secrets == nil || cfg.Endpoint == nil {
		return nil, errors.New("deliverer config: Sender, Secrets and Endpoint are required")
	}
	if cfg.Random == nil {
		cfg.Random = rand.Float64
	}
	return &Deliverer{
		outbox: o, cfg: cfg, log: cfg.Log.With().Str("stage", "webhooks").Logger(), wake: make(chan struct{}, 1), lines: newLines(),
	}, nil
}

// Run sends until ctx ends. Tries under way have 3 s more then.
func (d *Deliverer) Run(ctx context.Context) error {
	defer d.cfg.Sender.Close()
	trying, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var watch, tries sync.WaitGroup
	watch.Go(func() { d.watch(ctx) })
	for ctx.Err() == nil {
		now := time.Now()
		d.mu.Lock()
		due, next := d.lines.due(now, d.hostOf)
		d.mu.Unlock()
		for _, e := range due {
			tries.Go(func() { d.try(trying, e) })
		}
		d.idle(ctx, next)
	}
	grace := time.AfterFunc(afterStop, cut)
	defer grace.Stop()
	tries.Wait()
	watch.Wait()
	return nil
}

// idle waits until an instant (zero: for ever), a token, or the end.
func (d *Deliverer) idle(ctx context.Context, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-d.wake:
	case <-due:
	}
}

func (d *Deliverer) ring() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// watch keeps what waits in step with the outbox until ctx ends.
func (d *Deliverer) watch(ctx context.Context) {
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, watchFor)
		err := d.outbox.WatchHooks(limited, func(h chat.Hook) {
			d.mu.Lock()
			d.lines.note(h)
			d.mu.Unlock()
			d.ring()
		}, func() {})
		cancel()
		if err != nil && ctx.Err() == nil {
			d.log.Warn().Err(err).Msg("the webhooks' outbox cannot be watched, trying again")
			timer := time.NewTimer(rewatch)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// urlOf returns where a webhook goes; empty: nowhere.
func (d *Deliverer) urlOf(h *chat.Hook) string {
	if h.URL != "" {
		return h.URL
	}
	return d.cfg.Endpoint(h.Tenant)
}

func (d *Deliverer) hostOf(h *chat.Hook) string { return hostOf(d.urlOf(h)) }
