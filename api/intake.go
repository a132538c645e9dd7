package api

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
	"sluice/internal/trace"
)

// acceptTimeout is the longest that a caller waits for the engine to accept.
const acceptTimeout = 10 * time.Second

// The refusals for load say when to try again, within these.
const (
	minRetry = time.Second
	maxRetry = 30 * time.Second
)

// Message is what a customer sends, on whichever way it came in. Only Tenant and Text
// are required.
type Message struct {
	Tenant      chat.Tenant
	Session     string // empty: a new one
	Text        string
	CMID        string // the socket client's own id of the message
	Locale      string // BCP 47; decides the language of a text without letters
	Phone       string // E.164
	CallbackURL string
	Lane        chat.Lane     // empty: the tenant's own
	MaxWait     time.Duration // from acceptance to the route decision; 0: the lane's
	Customer    *chat.Customer
	Metadata    map[string]string
	// Claim lets the same request again meet the same ticket. Keys of different ways
	// in carry different prefixes.
	Claim queue.Claim
}

// Intake is the one way in for messages. It is safe for concurrent use.
type Intake struct {
	queue    *queue.Queue
	rules    func() *rules.Rules
	classify func(text string) (intent string, urgent bool)
	read     func(text, locale string) chat.Reading // nil: nobody looks
	line     Line
	gate     Turnstile    // nil: every message may come in
	lanes    *queue.Lanes // nil: every lane is open
	crowd    *crowd
	refused  func(tenant string, lane chat.Lane, code string)
	sessions *locks
	draining atomic.Bool
}

func newIntake(d Deps) *Intake {
	in := &Intake{queue: d.Queue, rules: d.Rules, classify: d.Classify, read: d.Read, line: d.Line, lanes: d.Lanes, sessions: newLocks()}
	in.crowd = newCrowd(func() float64 { return d.Rules().Valve.UrgentShare })
	in.gate, _ = d.Line.(Turnstile) // the controller is behind both
	if in.refused = d.Refused; in.refused == nil {
		in.refused = func(string, chat.Lane, string) {}
	}
	return in
}

// Submit checks a message, classifies it once and makes it durable. dup: the ticket
// is an earlier one, because of the same claim or because the session's last message
// is the same and still open. A returned ticket whose Seq is 0 is accepted, but its
// event is not in the talk log yet. Every error is a *chat.Error.
func (in *Intake) Submit(ctx context.Context, m Message) (t chat.Ticket, dup bool, err error) {
	lane := or(m.Lane, m.Tenant.Lane)
	defer func() {
		if e := (*chat.Error)(nil); errors.As(err, &e) && (e.Kind == chat.Overloaded || e.Kind == chat.Transient) {
			in.refused(m.Tenant.Name, lane, e.Code)
		}
	}()
	if in.draining.Load() {
		return chat.Ticket{}, false, errDraining()
	}
	limits := in.rules().Lanes
	if err := m.check(limits); err != nil {
		return chat.Ticket{}, false, err
	}
	if err := in.checkCallback(ctx, &m); err != nil {
		return chat.Ticket{}, false, err
	}
	t = in.ticket(m, time.Now().UTC())
	ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	leave, open := in.enter(&t)
	lane = t.Lane
	if !open {
		return in.again(ctx, m, t)
	}
	defer leave()
	t.Deadline = t.AcceptedAt.Add(m.wait(limits[t.Lane].MaxWait))
	t, dup, err = in.accept(ctx, m, t)
	if err != nil {
		return chat.Ticket{}, false, in.refusal(err, t.Lane)
	}
	if !dup {
		trace.Accepted(ctx, &t)
		in.crowd.count(&t, t.AcceptedAt)
	}
	return t, dup, nil
}

// ticket makes the ticket of a message that was checked, in the lane that was asked for
// and without a deadline.
func (in *Intake) ticket(m Message, now time.Time) chat.Ticket {
	t := chat.Ticket{
		ID: chat.NewTicketID(), Tenant: m.Tenant.Name, Session: m.Session, Lane: m.Lane,
		Message: m.Text, CMID: m.CMID,
		Phone: m.Phone, CallbackURL: m.CallbackURL, Customer: m.Customer, Metadata: m.Metadata,
		AcceptedAt: now,
	}
	if t.Session == "" {
		t.Session = chat.NewSessionID()
	}
	if t.Lane == "" {
		t.Lane = m.Tenant.Lane
	}
	in.understand(&t, m.Locale)
	t.Crowd = t.Urgent && in.crowd.full(&t, now)
	return t
}

// wait returns how long a message may wait in a lane that gives it most.
func (m *Message) wait(most time.Duration) time.Duration {
	if m.MaxWait > 0 {
		// A ticket that was raised may have asked for more than its new lane gives.
		return min(m.MaxWait, most)
	}
	return most
}

// accept applies the same-question rule, then makes the ticket durable. Messages of
// one session go one after the other, so that a double click meets its first half.
func (in *Intake) accept(ctx context.Context, m Message, t chat.Ticket) (chat.Ticket, bool, error) {
	if err := in.belongs(ctx, &t); err != nil {
		return t, false, err
	}
	if m.Session == "" || t.Lane == chat.Batch {
		in.follow(&t, chat.Event{})
		return in.admit(ctx, m, t)
	}
	unlock, err := in.sessions.lock(ctx, t.Tenant+"."+t.Session)
	if err != nil {
		return t, false, err
	}
	defer unlock()
	last, err := in.lastQuestion(ctx, t)
	if err != nil {
		return t, false, err
	}
	in.follow(&t, last)
	open, found, err := in.stillOpen(ctx, t, last)
	if err != nil {
		return t, false, err
	}
	if !found {
		// Another node may have the same question in hand, as yet unseen: it makes the
		// same id, and the ticket is created once.
		t.ID = chat.DerivedTicketID("question", t.Tenant, t.Session, strconv.FormatUint(last.Seq, 10), t.Message)
		return in.admit(ctx, m, t)
	}
	if m.Claim.Key == "" {
		return open, true, nil
	}
	// The claim is recorded for the open ticket: repeated after its end, the request
	// must still meet it. A claim that names another ticket wins.
	t.ID = open.ID
	return in.queue.Accept(ctx, t, m.Claim)
}

// belongs refuses a message of another customer than the session's, who is the first that
// was named: each prompt holds the session's history. In a batch a session is only a label.
func (in *Intake) belongs(ctx context.Context, t *chat.Ticket) error {
	if t.Customer == nil || t.Customer.ID == "" || t.Lane == chat.Batch {
		return nil
	}
	rec, err := in.queue.ChangeSession(ctx, t.Tenant, t.Session, func(s *queue.Session) bool {
		if s.Identity != "" {
			return false
		}
		s.Identity = t.Customer.ID
		return true
	})
	if err != nil || rec.Identity == t.Customer.ID {
		return err
	}
	return &chat.Error{
		Kind: chat.Conflict, Code: codeSession,
		Detail: "the session is another customer's: begin a new one, without session_id or with another",
	}
}

// sameQuestion returns the ticket of the session's last message, if that message is
// the same as t's and the ticket is open.
func (in *Intake) sameQuestion(ctx context.Context, t chat.Ticket) (chat.Ticket, bool, error) {
	last, err := in.lastQuestion(ctx, t)
	if err != nil {
		return chat.Ticket{}, false, err
	}
	return in.stillOpen(ctx, t, last)
}

// lastQuestion returns the last message of t's session. Where none is kept it has no
// ticket, and the seq at which the session stands.
func (in *Intake) lastQuestion(ctx context.Context, t chat.Ticket) (chat.Event, error) {
	last, err := in.queue.Question(ctx, t.Tenant, t.Session)
	if !errors.Is(err, queue.ErrNotFound) {
		return last, err
	}
	rec, err := in.queue.Session(ctx, t.Tenant, t.Session)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return last, err
	}
	if rec.Seq > 0 {
		// Written after its event: another node's may have come between the two looks.
		if last, err = in.queue.Question(ctx, t.Tenant, t.Session); !errors.Is(err, queue.ErrNotFound) {
			return last, err
		}
	}
	return chat.Event{Seq: rec.Seq}, nil
}

// stillOpen returns the ticket of the session's last message, if that message is the
// same as t's and the ticket is open.
func (in *Intake) stillOpen(ctx context.Context, t chat.Ticket, last chat.Event) (chat.Ticket, bool, error) {
	if last.Ticket == "" || last.Text != t.Message {
		return chat.Ticket{}, false, nil
	}
	s, err := in.queue.Ticket(ctx, last.Ticket)
	if errors.Is(err, queue.ErrNotFound) {
		return chat.Ticket{}, false, nil
	}
	return s.Ticket, err == nil && !s.Status.Ended(), err
}

// refusal says what a failed acceptance means to the caller.
func (in *Intake) refusal(err error, lane chat.Lane) *chat.Error {
	said := (*chat.Error)(nil)
	switch {
	case errors.As(err, &said):
		return said
	case errors.Is(err, queue.ErrFull):
		return &chat.Error{
			Kind: chat.Overloaded, Code: codeQueueFull, Err: err, RetryAfter: in.room(lane),
			Detail: "the lane is full; try again after the time in retry_after_ms",
		}
	case errors.Is(err, queue.ErrStorage):
		return &chat.Error{
			Kind: chat.Overloaded, Code: codeStorageFull, Err: err, RetryAfter: maxRetry,
			Detail: "the store is full; nothing was kept",
		}
	case errors.Is(err, queue.ErrReused):
		return &chat.Error{
			Kind: chat.Conflict, Code: codeIdempotency, Err: err,
			Detail: "the same key was used with another body within the last 24 hours",
		}
	}
	return unavailable(err)
}

// room returns when a full lane has places again, as fast as it empties. Where nobody knows
// that, it is when all that stand in it now have gone, which is at the lane's max wait at
// the latest.
func (in *Intake) room(lane chat.Lane) time.Duration {
	if in.gate != nil {
		if wait, known := in.gate.Room(lane); known {
			return max(minRetry, min(wait, maxRetry))
		}
	}
	_, eta := in.line.Behind(lane)
	return max(minRetry, min(eta, in.rules().Lanes[lane].MaxWait, maxRetry))
}

func errDraining() *chat.Error {
	return &chat.Error{
		Kind: chat.Overloaded, Code: codeDraining, RetryAfter: 5 * time.Second,
		Detail: "this node is stopping and takes nothing more in",
	}
}
