package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

// LanesConfig describes what a process does about the lanes' states.
type LanesConfig struct {
	Node string // unique id of this process, one subject token; required
	// Intake says that the process takes messages in: it passes Enter with each, and
	// confirms the orders that it obeys.
	Intake bool
	// Promises says that the process puts follow-ups into lanes, which is no intake but
	// passes Enter and confirms as one does.
	Promises bool
	// Answer makes the answer of a ticket without a vendor. Nil: to answer what waits in
	// a lane is left to other processes.
	Answer func(t *chat.Ticket, reason chat.Reason) chat.Answer
	Log    zerolog.Logger
}

// Lanes is what this process knows about the states of the lanes, and what it does for
// them: it watches the orders and reads them again at least every second, confirms
// them, finds out when a lane is drained, and works off requests to clear one. It is
// safe for concurrent use.
type Lanes struct {
	queue  *Queue
	cfg    LanesConfig
	log    zerolog.Logger
	rest   zerolog.Logger // for what comes again and again while something is away
	ready  chan struct{}
	once   sync.Once // of ready
	hooks  []func(chat.Lane, chat.LaneState)
	known  atomic.Pointer[map[chat.Lane]LaneOrder] // nil before the first reading; written under mu
	moved  chan struct{}                           // there may be something new to confirm
	asked  map[chat.Lane]chan struct{}             // there may be something to clear
	joined bool                                    // a reading came right after the node's key was written; the reader's goroutine

	mu     sync.Mutex           // guards what follows, and known against Enter
	inside map[chat.Lane]int    // intakes under way
	mine   map[chat.Lane]uint64 // revisions of the requests that this process works on
}

// quietFor is how long the log is spared the same complaint.
const quietFor = 10 * time.Second

// NewLanes returns the lanes of a process; nothing is known before Run.
func NewLanes(q *Queue, cfg LanesConfig) (*Lanes, error) {
	if cfg.Node == "" || strings.ContainsAny(cfg.Node, " \t\r\n.*>") {
		return nil, fmt.Errorf("lanes config: Node must be one subject token, is %q", cfg.Node)
	}
	log := cfg.Log.With().Str("stage", "lanes").Logger()
	l := &Lanes{
		queue: q, cfg: cfg, log: log, rest: log.Sample(&zerolog.BurstSampler{Burst: 1, Period: quietFor}), ready: make(chan struct{}),
		moved: make(chan struct{}, 1), asked: map[chat.Lane]chan struct{}{},
		inside: map[chat.Lane]int{}, mine: map[chat.Lane]uint64{},
	}
	for _, lane := range chat.Lanes() {
		l.asked[lane] = make(chan struct{}, 1)
	}
	return l, nil
}

// OnChange has hook called with each lane whose state changes, the first reading
// included where it is not open. Hooks come one at a time and must not block. Call it
// before Run.
func (l *Lanes) OnChange(hook func(lane chat.Lane, s chat.LaneState)) {
	l.hooks = append(l.hooks, hook)
}

// Ready is closed once the states are known.
func (l *Lanes) Ready() <-chan struct{} { return l.ready }

// Run keeps the states until ctx ends. Nothing may enter a lane after that.
func (l *Lanes) Run(ctx context.Context) error {
	if l.queue.cfg.Fresh {
		// Whoever confirmed before is dead.
		if err := l.queue.forgetIntakes(ctx); err != nil {
			return err
		}
	}
	var work sync.WaitGroup
	work.Go(func() { follow(ctx, l.queue.nc, l.queue.steering, orderPrefix+"*", l.read) })
	if l.enters() {
		work.Go(func() { l.confirm(ctx) })
	}
	work.Go(func() { l.watchDrains(ctx) })
	work.Go(func() { l.watchPauses(ctx) })
	for _, lane := range chat.Lanes() {
		work.Go(func() { l.clearLane(ctx, lane) })
	}
	work.Wait()
	return nil
}

// State returns the state of a lane as this process knows it: open, paused or draining.
// It takes no lock and does no I/O.
func (l *Lanes) State(lane chat.Lane) chat.LaneState {
	if known := l.known.Load(); known != nil {
		return (*known)[lane].State
	}
	return chat.LaneOpen
}

// Enter begins to take a message into a lane; leave ends it, however it came out. open
// is false while the lane drains, or before its state is known.
func (l *Lanes) Enter(lane chat.Lane) (leave func(), open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known.Load()
	if known == nil || (*known)[lane].State == chat.LaneDraining {
		return nil, false
	}
	l.inside[lane]++
	return sync.OnceFunc(func() { l.leave(lane) }), true
}

// enters reports whether the process puts anything into a lane.
func (l *Lanes) enters() bool { return l.cfg.Intake || l.cfg.Promises }

func (l *Lanes) leave(lane chat.Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inside[lane]--
	if l.inside[lane] == 0 {
		signal(l.moved)
	}
}

// read reads all orders and puts them into force together.
func (l *Lanes) read(ctx context.Context) {
	if l.enters() && !l.joined {
		// In this order: whoever drains a lane and does not see this node yet may be sure
		// that it will see the order.
		if err := l.queue.confirmOrders(ctx, l.key(), nil); err != nil {
			l.complain(ctx, err)
			return
		}
	}
	orders := map[chat.Lane]LaneOrder{}
	for _, lane := range chat.Lanes() {
		o, err := l.queue.LaneOrder(ctx, lane)
		if err != nil {
			l.complain(ctx, err)
			return
		}
		orders[lane] = o
	}
	l.obey(orders)
	l.joined = true
	l.once.Do(func() { close(l.ready) })
}

// complain is not about a process that stops.
func (l *Lanes) complain(ctx context.Context, err error) {
	if !errors.Is(ctx.Err(), context.Canceled) {
		l.rest.Warn().Err(err).Msg("states of the lanes cannot be read, the last known ones hold")
	}
}

// obey puts orders into force and tells the hooks what changed.
func (l *Lanes) obey(orders map[chat.Lane]LaneOrder) {
	before := l.known.Load()
	for lane, o := range orders {
		if before != nil && o.Rev < (*before)[lane].Rev {
			orders[lane] = (*before)[lane] // a server that lags behind answered
		}
	}
	l.mu.Lock()
	l.known.Store(&orders)
	l.mu.Unlock()
	signal(l.moved)
	for _, lane := range chat.Lanes() {
		was, is := chat.LaneOpen, orders[lane].State
		if before != nil {
			was = (*before)[lane].State
		}
		if was == is {
			continue
		}
		l.log.Info().Str("lane", string(lane)).Str("state", string(is)).Msg("state of the lane")
		for _, hook := range l.hooks {
			hook(lane, is)
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// every calls do at once, then after each period or signal, until ctx ends.
func every(ctx context.Context, period time.Duration, woken <-chan struct{}, do func()) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for ctx.Err() == nil {
		do()
		select {
		case <-ticker.C:
		case <-woken:
		case <-ctx.Done():
		}
	}
}
