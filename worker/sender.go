package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/sms"
)

// Outbox is where notices wait, in the engine.
type Outbox interface {
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
	writeLimit  = 5 * time.Second
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
	outbox  Outbox
	texting func() Texting
	node    string
	log     zerolog.Logger
	rest    zerolog.Logger // for what comes again and again while something is away

	slots chan struct{}
	mu    sync.Mutex
	busy  map[string]bool // notices in work here
}

// NewSender returns a sender that is named node in the outbox; nothing is sent before Run.
func NewSender(outbox Outbox, texting func() Texting, node string, log zerolog.Logger) *Sender {
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
		return !now.Before(n.Next) || !now.Before(n.DueAt)
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

// advance does what is due for one notice.
func (s *Sender) advance(ctx context.Context, n chat.Notice) {
	ctx, cancel := context.WithTimeout(ctx, sendLimit+2*writeLimit)
	defer cancel()
	now := time.Now().UTC()
	var err error
	if status, ended := n.Promised(now); ended {
		err = s.outbox.Settle(ctx, n, status)
	} else {
		switch n.State {
		case chat.NoticeQueued:
			err = s.try(ctx, n, now)
		case chat.NoticeSending: // its sender is gone, or its outcome was never written
			n.Turn(chat.NoticeUnknown, now)
			n.Looks = 0
			err = s.set(ctx, n)
		default:
			err = s.look(ctx, n)
		}
	}
	if err != nil {
		s.rest.Warn().Err(err).Str("ticket", n.ID).Msg("a notice cannot be brought forward, trying again")
	}
}

// try sends a notice if it may go out now.
func (s *Sender) try(ctx context.Context, n chat.Notice, now time.Time) error {
	t := s.texting()
	if !now.Before(n.DueAt) {
		n.Fail(chat.FaultOverdue, now)
		return s.set(ctx, n)
	}
	if t.Carrier == nil {
		return nil
	}
	if quiet := t.Quiet.End(n.Phone, now); quiet.After(now) {
		if quiet.Before(n.DueAt) {
			return nil
		}
		n.Fail(chat.FaultQuiet, now)
		return s.set(ctx, n)
	}
	if !slices.Contains(t.Countries, sms.Country(n.Phone)) {
		n.Fail(chat.FaultCountry, now)
		return s.set(ctx, n)
	}
	fault, err := s.outbox.Allow(ctx, n, t.Caps, now)
	if err != nil {
		return err
	}
	if fault != "" {
		n.Fail(fault, now)
		return s.set(ctx, n)
	}
	return s.send(ctx, n, t.Carrier)
}

// send claims a notice and hands it over. Where the claim took too long nothing is handed
// over: another sender may be looking already.
func (s *Sender) send(ctx context.Context, n chat.Notice, carrier Carrier) error {
	claimed := time.Now()
	n.Turn(chat.NoticeSending, claimed.UTC())
	n.Holder, n.Provider, n.AskedAt, n.Looks, n.Fault = s.node, carrier.Name(), claimed.UTC(), 0, ""
	n.Text, n.Segments = carrier.Text(&n)
	n.Tries++
	n, mine, err := s.outbox.Set(ctx, n)
	if err != nil || !mine || time.Since(claimed) > sendWithin {
		return err
	}
	sending, cancel := context.WithDeadline(ctx, claimed.Add(sendLimit))
	receipt, err := carrier.Send(sending, &n)
	cancel()
	return s.outcome(ctx, n, receipt, err)
}

// outcome writes what a try came to. Where a receipt was faster, that has said it already;
// where it cannot be written, whoever looks next asks the carrier.
func (s *Sender) outcome(ctx context.Context, n chat.Notice, receipt chat.Receipt, err error) error {
	now := time.Now().UTC()
	var refusal *sms.Refusal
	switch {
	case err == nil:
		receipt.At = now
		if receipt.State == "" {
			receipt.State = chat.NoticeSent // it was taken, whatever the carrier calls that
		}
		n.Hear(receipt, now)
		if n.Provider == sms.ProviderOutbox {
			n.Next = time.Time{} // nobody will ever say more
		}
	case !errors.As(err, &refusal):
		s.rest.Warn().Err(err).Str("ticket", n.ID).Str("provider", n.Provider).Msg("nobody knows whether a notice was sent")
		n.Turn(chat.NoticeUnknown, now)
		n.Next = now.Add(firstLook)
	case refusal.Verdict == sms.NotNow:
		s.rest.Warn().Str("ticket", n.ID).Str("provider", n.Provider).Str("code", refusal.Code).Msg("the carrier takes nothing now")
		n.Turn(chat.NoticeQueued, now)
		n.Next = now.Add(max(refusal.After, back(time.Second, n.Tries-1)))
		n.Fault = refusal.Code
	default:
		if refusal.Verdict == sms.OptOut {
			if err := s.outbox.Suppress(ctx, n.Phone, refusal.Code, now); err != nil {
				return err
			}
		}
		n.Fail(refusal.Code, now)
	}
	return s.set(ctx, n)
}

// set writes a notice, and tells the log where it stands.
func (s *Sender) set(ctx context.Context, n chat.Notice) error {
	n, mine, err := s.outbox.Set(ctx, n)
	if err != nil || !mine {
		return err
	}
	s.log.Info().Str("ticket", n.ID).Str("tenant", n.Tenant).Str("provider", n.Provider).Str("state", string(n.State)).
		Str("fault", n.Fault).Int("attempt", n.Tries).Msg("notice")
	return nil
}

// back is how long to wait after so many times: twice as long each, up to mostBack.
func back(first time.Duration, times int) time.Duration {
	return min(first<<min(max(times, 0), 10), mostBack)
}
