package queue

import (
	"context"
	"errors"

	"sluice/internal/chat"
)

// Past is what a session holds at one moment.
type Past struct {
	Events []chat.Event      // the newest, oldest first
	Open   map[string]uint64 // interactive ticket → seq of its customer message, where no final event is there yet
}

// OpenBefore reports whether a customer message before seq has no final event yet.
func (p Past) OpenBefore(seq uint64) bool {
	for _, s := range p.Open {
		if s < seq {
			return true
		}
	}
	return false
}

// Past reads a session's talk log as it stands now: the newest events, at most keep of
// them, and every open message. It reads from the first mark of the session's record on, however
// long the session is: about 0.1 ms an event.
func (q *Queue) Past(ctx context.Context, tenant, session string, keep int) (Past, error) {
	past := Past{Open: map[string]uint64{}}
	head, at, err := q.last(ctx, talkFilter(tenant, session))
	if err != nil || head == nil {
		return past, err
	}
	rec, err := q.Session(ctx, tenant, session)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return past, err
	}
	begin := uint64(1)
	if len(rec.Recent) > 0 {
		begin = rec.Recent[0].At
	}
	w := walk{queue: q, tenant: tenant, id: session, marks: rec.Recent, newest: *head, end: at}
	err = w.from(ctx, begin, func(e chat.Event) bool {
		switch {
		case e.Who == chat.ByCustomer && e.Lane.Interactive():
			past.Open[e.Ticket] = e.Seq
		case e.Status.Ended():
			delete(past.Open, e.Ticket)
		}
		past.Events = append(past.Events, e)
		if len(past.Events) >= 2*keep {
			past.Events = append(past.Events[:0], past.Events[len(past.Events)-keep:]...)
		}
		return true
	})
	if n := len(past.Events); n > keep {
		past.Events = past.Events[n-keep:]
	}
	return past, err
}
