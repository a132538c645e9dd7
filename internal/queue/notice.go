package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// noticesEvery is how often the notices are looked at; of all processes one does it.
const noticesEvery = time.Second

// Outbox gives the notices to who sends them. It remembers those that are not over, so
// that a look reads only what was changed since the last one. Open is for one goroutine,
// the rest is safe for concurrent use.
type Outbox struct {
	queue *Queue
	last  uint64 // the place up to which the outbox is known
	open  map[string]chat.Notice
}

// NewOutbox returns an Outbox that knows nothing yet.
func NewOutbox(q *Queue) *Outbox { return &Outbox{queue: q, open: map[string]chat.Notice{}} }

// Open returns the notices that something is to be done about, by their time; none where
// another process looks after them at this moment. That saves work and is no lock: only
// the compare-and-set of Set decides whose a notice is.
func (o *Outbox) Open(ctx context.Context) ([]chat.Notice, error) {
	mine, err := o.queue.Duty(ctx, "notices", noticesEvery)
	if err != nil || !mine {
		return nil, err
	}
	if err := o.follow(ctx); err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	return slices.SortedFunc(maps.Values(o.open), func(a, b chat.Notice) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	}), nil
}

// follow reads what was changed since the last look.
func (o *Outbox) follow(ctx context.Context) error {
	info, err := o.queue.outbox.Info(ctx)
	if err != nil {
		return err
	}
	if info.State.LastSeq < o.last { // it was made anew
		o.last = 0
		clear(o.open)
	}
	if info.State.LastSeq == o.last {
		return nil
	}
	err = eachEntry(ctx, o.queue.outbox, o.last+1, func(body []byte, seq uint64) {
		n := chat.Notice{Seq: seq}
		if err := json.Unmarshal(body, &n); err != nil {
			o.queue.log.Error().Err(err).Uint64("seq", seq).Msg("notice cannot be read")
			return
		}
		if n.Open() {
			o.open[n.ID] = n
		} else {
			delete(o.open, n.ID)
		}
		o.last = max(o.last, seq)
	})
	if err == nil {
		o.last = max(o.last, info.State.LastSeq)
	}
	return err
}

// Set writes a notice over what the caller saw. False: somebody else has changed it. One that
// is claimed to be sent although a person has taken its session over ends cancelled: false.
func (o *Outbox) Set(ctx context.Context, n chat.Notice) (chat.Notice, bool, error) {
	n, mine, err := o.queue.setNotice(ctx, NoticePoint(n.State), n)
	if err != nil || !mine || n.State != chat.NoticeSending {
		return n, mine, err
	}
	// After the claim: what a takeover does not find waiting any more finds the takeover here.
	taken, err := o.queue.noticeTaken(ctx, &n)
	if err != nil || !taken {
		return n, err == nil, err
	}
	n.Tries-- // nothing leaves
	n.Turn(chat.NoticeCancelled, time.Now().UTC())
	n, _, err = o.queue.setNotice(ctx, NoticePoint(n.State), n)
	return n, false, err
}

func (q *Queue) setNotice(ctx context.Context, p Point, n chat.Notice) (chat.Notice, bool, error) {
	if err := q.before(p, n.ID); err != nil {
		return n, false, err
	}
	body, err := json.Marshal(n)
	if err != nil {
		return n, false, fmt.Errorf("encode notice %s: %w", n.ID, err)
	}
	var ack *jetstream.PubAck
	err = decided(ctx, func() (err error) {
		ack, err = q.js.Publish(ctx, outboxSubject(n.ID), body, jetstream.WithExpectLastSequencePerSubject(n.Seq))
		return err
	})
	if outpaced(err) {
		return n, false, nil
	}
	if err != nil {
		return n, false, refusal("write notice "+n.ID, err)
	}
	n.Seq = ack.Sequence
	if n.State == chat.NoticeSent && p == NoticePoint(n.State) {
		if err := q.freeNotice(ctx, &n); err != nil {
			q.log.Warn().Err(err).Str("ticket", n.ID).Msg("a text message that went out keeps its place of a later day")
		}
	}
	if q.texted != nil && p == NoticePoint(n.State) && n.Looks == 0 {
		q.texted(&n)
	}
	return n, true, nil
}

// OnText has f told of each state that a notice comes to through this process. It comes
// before the first one.
func (q *Queue) OnText(f func(n *chat.Notice)) { q.texted = f }

// Notice returns one notice, or ErrNotFound.
func (q *Queue) Notice(ctx context.Context, id string) (n chat.Notice, err error) {
	if !chat.IsTicketID(id) {
		return n, fmt.Errorf("notice: %w", ErrNotFound)
	}
	raw, err := q.outbox.GetLastMsgForSubject(ctx, outboxSubject(id))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return n, fmt.Errorf("notice %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return n, fmt.Errorf("read notice %s: %w", id, err)
	}
	if err := json.Unmarshal(raw.Data, &n); err != nil {
		return n, fmt.Errorf("decode notice %s: %w", id, err)
	}
	n.Seq = raw.Sequence
	return n, nil
}

// Receive takes in what a carrier said of a notice, at now. It may come before the sender
// has written that the notice was sent. fits refuses a receipt that cannot be for it:
// ErrNotFound, as for a notice that there is not. The notice is returned as it stands then.
func (q *Queue) Receive(ctx context.Context, id string, r chat.Receipt, fits func(*chat.Notice) bool, now time.Time) (chat.Notice, error) {
	for range appendTries {
		n, err := q.Notice(ctx, id)
		if err != nil {
			return n, err
		}
		// What never left for a carrier has no receipts.
		if n.Tries == 0 || r.Round > n.Round || !fits(&n) {
			return n, fmt.Errorf("receipt for notice %s: %w", id, ErrNotFound)
		}
		if !n.Hear(r, now) {
			return n, nil
		}
		n, done, err := q.setNotice(ctx, NoticePoint(n.State), n)
		if err != nil || done {
			return n, err
		}
	}
	return chat.Notice{}, fmt.Errorf("write notice %s: met another writer %d times", id, appendTries)
}
