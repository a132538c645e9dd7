package worker

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/sms"
)

// Notices is where notices wait, in the engine.
type Notices interface {
	// Open returns the notices that something is to be done about; none while another
	// process looks after them.
	Open(ctx context.Context) ([]chat.Notice, error)
	// Set writes a notice over what the caller saw. False: somebody else has changed it.
	Set(ctx context.Context, n chat.Notice) (chat.Notice, bool, error)
	// Allow counts a notice once, or says why it must not go out.
	Allow(ctx context.Context, n chat.Notice, caps chat.TextCaps, now time.Time) (fault string, err error)
	// Suppress notes that a number is to get no text messages any more.
	Suppress(ctx context.Context, phone, why string, now time.Time) error
	// Settle lets the promise of a notice know how that ended.
	Settle(ctx context.Context, n chat.Notice, status chat.PromiseStatus) error
}

// Carrier takes text messages. It is safe for concurrent use.
type Carrier interface {
	Name() string
	// Text returns what a notice says, and its segments; 0: only the carrier knows.
	Text(n *chat.Notice) (text string, segments int)
	// Send hands a notice over, once. A *sms.Refusal: it was not taken. Any other error:
	// nobody knows.
	Send(ctx context.Context, n *chat.Notice) (chat.Receipt, error)
	// Find looks for a notice that may have been taken. An error: nobody can tell.
	Find(ctx context.Context, n *chat.Notice) (sms.Found, error)
}

// Texting is how text messages go out by the rules in force.
type Texting struct {
	Carrier   Carrier // nil: none can be had, so nothing goes out
	Caps      chat.TextCaps
	Countries []string
	Quiet     *sms.Quiet // nil: no quiet hours
}

// Times of the sender. A try that has not begun its request within sendWithin of its claim
// makes none, and none lasts longer than sendLimit. After sendLease another sender may look
// what became of it. What a carrier does not know is believed to have been lost no sooner
// than absentAfter its last try.
const (
	sendEvery   = time.Second
	sendWithin  = 5 * time.Second
	sendLimit   = 15 * time.Second
	sendLease   = 30 * time.Second
	noticeLimit = 5 * time.Second // for the writes before and after a try
	absentAfter = time.Minute
	firstLook   = 5 * time.Second
	mostBack    = time.Minute // between two looks, or two tries
	sendsAtOnce = 32          // notices in work, of one process
	quietFor    = 10 * time.Second
)

// maxLooks is how often a carrier is asked what became of a notice that it has taken: after
// 10 min, 40 min, 3 h and 11 h more.
const maxLooks = 4

// Sender hands the notices of the outbox over to a carrier and follows what becomes of them.
// Any number of processes may run one: whoever claims a notice is the one to send it, and a
// try whose outcome nobody has seen is looked up at the carrier before there is another one.
type Sender struct {
	outbox  Notices
	texting func() Texting
	node    string
	log     zerolog.Logger
	rest    zerolog.Logger // for what comes again and again while something is away

	slots chan struct{}
	mu    sync.Mutex
	busy  map[string]bool // notices in work here
}

// NewSender returns a sender that is named node in the outbox; nothing is sent before Run.
func NewSender(outbox Notices, texting func() Texting, node string, log zerolog.Logger) *Sender {
	log = log.With().Str("stage", "texts").Logger()
	return &Sender{
		outbox: outbox, texting: texting, node: node, log: log,
		rest:  log.Sample(&zerolog.BurstSampler{Burst: 1, Period: quietFor}),
		slots: make(chan struct{}, sendsAtOnce), busy: map[string]bool{},
	}
}

// Run sends until ctx ends, and then finishes what is being sent.
func (s *Sender) Run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	ticker := time.NewTicker(sendEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		open, err := s.outbox.Open(ctx)
		if err != nil && ctx.Err() == nil {
			s.rest.Warn().Err(err).Msg("the outbox cannot be looked after, trying again")
		}
		for _, n := range open {
			if !due(&n, time.Now()) || !s.begin(n.ID) {
				continue
			}
			work.Go(func() {
				defer s.end(n.ID)
				s.advance(context.WithoutCancel(ctx), n)
			})
		}
	}
}

// due reports whether something may be done about a notice at now.
func due(n *chat.Notice, now time.Time) bool {
	switch {
	case n.State == chat.NoticeSending:
		return now.Sub(n.Since) >= sendLease
	case n.State == chat.NoticeUnknown, n.State == chat.NoticeQueued:
		return !now.Before(n.Next) || !n.Settled && !now.Before(n.DueAt) || !now.Before(n.LeaveBy())
	}
	return !now.Before(n.Next)
}

// begin takes a place for the work on a notice. False: it is in work, or there is none.
func (s *Sender) begin(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] {
		return false
	}
	select {
	case s.slots <- struct{}{}:
		s.busy[id] = true
		return true
	default:
		return false
	}
}

func (s *Sender) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, id)
	<-s.slots
}
