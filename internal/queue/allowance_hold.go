package queue

import (
	"context"
	"errors"
	"hash/fnv"
	"time"

	"sluice/internal/chat"
)

// heldDays is in how many days a promise takes its places at most; its time is one of
// minutes, and touches two where it passes midnight.
const heldDays = 8

// ErrCapped says that no promise is made, because a cap of text messages has no place left
// on a day in which the text might go out.
var ErrCapped = errors.New("a cap of text messages is reached")

// hold names the places of a promised text message: one of its number and one of its tenant
// on each day from one instant to another, because it may go out on any of them.
type hold struct {
	id, tenant, phone string
	from, until       time.Time
}

func holdOf(t *chat.Ticket) hold { return hold{t.ID, t.Tenant, t.Phone, t.AcceptedAt, t.Deadline} }

func (o *Owed) hold() hold { return hold{o.ID, o.Tenant, o.Phone, o.MadeAt, o.DueAt} }

// days calls visit with an instant of each day, until visit returns false.
func (h hold) days(visit func(time.Time) bool) {
	day := h.from.UTC().Truncate(24 * time.Hour)
	for range heldDays {
		if day.After(h.until) || !visit(day) {
			return
		}
		day = day.Add(24 * time.Hour)
	}
}

// holdTexts takes the places of a promise, once, however often it is asked. False: one of
// them cannot be had, and none is kept.
func (q *Queue) holdTexts(ctx context.Context, h hold, caps chat.TextCaps) (in bool, err error) {
	in = true
	h.days(func(day time.Time) bool {
		if in, err = q.countText(ctx, PromiseCount, numberCount(h.phone, day), h.id, caps.PerNumber); err == nil && in {
			in, err = q.countText(ctx, PromiseCount, tenantCount(h.tenant, day), h.id, caps.PerTenant)
		}
		return err == nil && in
	})
	if err != nil || in {
		return in, err
	}
	return false, q.freeTexts(ctx, h)
}

// freeTexts gives the places of a message back that does not go out. What a count has
// forgotten stays in it until the end of its day.
func (q *Queue) freeTexts(ctx context.Context, h hold) (err error) {
	mark := countedAs(h.id)
	remove := func(t *tally) bool { return t.remove(mark) }
	h.days(func(day time.Time) bool {
		if err = q.changeCount(ctx, PromiseFreed, numberCount(h.phone, day), h.id, remove); err == nil {
			err = q.changeCount(ctx, PromiseFreed, tenantCount(h.tenant, day), h.id, remove)
		}
		return err == nil
	})
	return err
}

// freeNotice gives the places back that a notice does not need any more: all of one that
// ended without ever leaving, and those of later days once it was taken.
func (q *Queue) freeNotice(ctx context.Context, n *chat.Notice) error {
	h := hold{n.Mark(), n.Tenant, n.Phone, n.Since, n.DueAt}
	switch {
	case n.State.Ended() && n.Tries == 0:
		h.until = n.LeaveBy()
	case n.State == chat.NoticeSent || n.State == chat.NoticeDelivered:
		h.from = n.AskedAt.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	default:
		return nil
	}
	return q.freeTexts(ctx, h)
}

// turnstiles lets one goroutine at a time change what a key names; keys that fall together
// wait for one another too. It is safe for concurrent use.
type turnstiles [16]chan struct{}

func newTurnstiles() (t turnstiles) {
	for i := range t {
		t[i] = make(chan struct{}, 1)
	}
	return t
}

// enter waits for the turn of a key, or for the end of ctx. The caller calls leave.
func (t *turnstiles) enter(ctx context.Context, key string) (leave func(), err error) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(key))
	turn := t[sum.Sum32()%uint32(len(t))]
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
