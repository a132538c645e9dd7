package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// Controller grants permits together with the session's turn.
type Controller interface {
	gate.Granter
	EndTurn(tenant, session, ticket string)
	// Live returns how many dispatchers are at work, this one included; 1 if nobody knows.
	Live() int
	// Level returns the load level that a ticket of a lane feels, 0 to 3, and what is closed
	// when a level changes.
	Level(lane chat.Lane) (level int, changed <-chan struct{})
}

// Worker makes answers. It knows nothing of queues.
type Worker interface {
	// Answer works out the answer with a vendor, as how says. stream gets the text meant for
	// the customer as it comes; it never blocks.
	Answer(ctx context.Context, q chat.Question, how chat.Effort, stream func(text string)) (chat.Answer, error)
	// Knows reports whether the knowledge covers a ticket's question.
	Knows(t *chat.Ticket) bool
	// FAQ answers from the written answers without any I/O. False: none of them fits.
	FAQ(t *chat.Ticket) (chat.Answer, bool)
	// Recall returns the answer that the same question was given before, or waits for that
	// of another ticket. history reads the session, and reports whether the ticket may be
	// answered now.
	Recall(ctx context.Context, t *chat.Ticket, how chat.Effort, history func() (past []chat.Event, free bool)) chat.Recalled
	// Settles reports whether a ticket needs no model: its customer agrees to what was asked
	// before. history is called where the message alone does not tell.
	Settles(t *chat.Ticket, history func() []chat.Event) bool
	// Resume sees to its end what a ticket set out to do and what cannot be undone. After
	// an error nobody knows how far it came.
	Resume(ctx context.Context, q chat.Question) (chat.Answer, error)
	// Estimate returns how many tokens the first call for a ticket may use.
	Estimate(t *chat.Ticket) int
	// Fallback answers without any I/O.
	Fallback(t *chat.Ticket, reason chat.Reason) chat.Answer
	// Handoff is the message that people take over, without any I/O.
	Handoff(t *chat.Ticket) chat.Reply
	// Promise adds to an answer to t that the full one follows, as the ticket followUp.
	Promise(a chat.Answer, t *chat.Ticket, followUp string, p chat.Promise) chat.Answer
}

// Config describes a dispatcher.
type Config struct {
	Rules   func() Rules  // in force now; required, safe for concurrent use
	Grace   time.Duration // how long running answers may go on after a stop; 0: 15 s
	Answer  time.Duration // hard limit of one answer, whatever the vendor does; 0: 150 s
	History int           // events of the session that a question carries; 0: 40
	// Defer says whether the full answer to a ticket may be promised for later, and how.
	// Nil: none may.
	Defer func(t *chat.Ticket) (d Deferral, may bool)
	// HandsOff reports whether a ticket always goes to people, by its intent. Nil: none does.
	HandsOff func(t *chat.Ticket) bool
	// Draining reports whether nothing may stay in a lane longer than it must. Nil: nowhere.
	Draining func(chat.Lane) bool
	Answered func(t *chat.Ticket) // is told of each end that is written; it must not block. Nil: nobody is
	Log      zerolog.Logger
}

// Rules is what operators may change while a dispatcher runs. Each use reads it anew.
type Rules struct {
	Holds map[chat.Lane]int // jobs held per interactive lane; every one is required
	Agent Chain             // required
	RAG   Chain             // without vendors nothing is answered from the knowledge
	// MaxDeliver is how often a job may be taken without coming to an end before the
	// template answers it and it is kept as a dead letter; at least 1.
	MaxDeliver int
	// UrgentWait is how long an urgent ticket that no vendor takes waits on after its
	// customer was told that people take over; 0: it is not handed off.
	UrgentWait time.Duration
	Shadow     float64 // part of the agent's answers in calm times on which the lower rungs are tried unseen
}

// Chain is who serves a route.
type Chain struct {
	Vendors []string // that may answer, the preferred one first
	Model   string   // our word for the model that answers
	Light   string   // and for the one that does while there is little room; empty: the same
}

// Validate names the field that is wrong.
func (c Config) Validate() error {
	if c.Rules == nil {
		return errors.New("dispatcher config: Rules is nil")
	}
	r := c.Rules()
	for _, lane := range chat.Lanes() {
		if lane.Interactive() && r.Holds[lane] < 1 {
			return fmt.Errorf("dispatcher config: Rules.Holds[%s] must be at least 1, is %d", lane, r.Holds[lane])
		}
	}
	if len(r.Agent.Vendors) == 0 {
		return errors.New("dispatcher config: Rules.Agent.Vendors is empty")
	}
	if r.MaxDeliver < 1 {
		return fmt.Errorf("dispatcher config: Rules.MaxDeliver must be at least 1, is %d", r.MaxDeliver)
	}
	if c.Grace < 0 || c.Answer < 0 || c.History < 0 {
		return errors.New("dispatcher config: Grace, Answer and History must not be negative")
	}
	return nil
}

// Dispatcher takes jobs of all lanes and brings each to its end.
type Dispatcher struct {
	cfg     Config
	queue   *queue.Queue
	control Controller
	worker  Worker
	log     zerolog.Logger

	held *held
	pace pace // of answers from the knowledge
	jobs sync.WaitGroup

	streams   atomic.Int64    // under way
	shadowing chan struct{}   // holds one token while a rung is tried in the shadow
	renewing  chan struct{}   // holds one for each old answer that is being made anew
	calm      context.Context // ends when the dispatcher stops, for what nobody waits for
	ruffle    context.CancelFunc
}

// New returns a dispatcher that holds nothing yet.
func New(q *queue.Queue, c Controller, w Worker, cfg Config) (*Dispatcher, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Grace == 0 {
		cfg.Grace = 15 * time.Second
	}
	if cfg.Answer == 0 {
		cfg.Answer = 150 * time.Second
	}
	if cfg.Draining == nil {
		cfg.Draining = func(chat.Lane) bool { return false }
	}
	if cfg.Answered == nil {
		cfg.Answered = func(*chat.Ticket) {}
	}
	if cfg.History == 0 {
		cfg.History = 40
	}
	d := &Dispatcher{
		cfg: cfg, queue: q, control: c, worker: w, held: newHeld(), shadowing: make(chan struct{}, 1),
		renewing: make(chan struct{}, renewals),
		log:      cfg.Log.With().Str("stage", "dispatcher").Logger(),
	}
	d.calm, d.ruffle = context.WithCancel(context.Background())
	return d, nil
}

// Run takes and answers jobs until ctx ends. Then it takes no more: what waits is
// handed back within a second, what runs may end within Config.Grace and is handed back after
// it, without counting the attempt. It returns when nothing is held any more.
func (d *Dispatcher) Run(ctx context.Context) error {
	stop, err := d.queue.Nudges(func(ticket string) { d.held.cancel(ticket, errCancelled) })
	if err != nil {
		return err
	}
	defer stop()
	beating := context.WithoutCancel(ctx)
	beating, stopBeating := context.WithCancel(beating)
	var helpers sync.WaitGroup
	helpers.Go(func() { d.beat(beating) })
	helpers.Go(func() { d.repair(ctx) })

	var takers sync.WaitGroup
	for _, lane := range chat.Lanes() {
		takers.Go(func() { d.take(ctx, lane) })
	}
	<-ctx.Done()
	d.finish(&takers)
	stopBeating()
	helpers.Wait()
	return nil
}

// finish brings everything that is held to an end or back to its lane. Nothing is handed
// back while a pull is open, which would be given it again.
func (d *Dispatcher) finish(takers *sync.WaitGroup) {
	d.ruffle()
	grace := time.AfterFunc(d.cfg.Grace, func() { d.held.cancelAll(errStopping) })
	defer grace.Stop()
	takers.Wait()
	d.held.cancelWaiting(errStopping)
	d.jobs.Wait()
}
