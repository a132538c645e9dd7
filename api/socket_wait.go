package api

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// maxWaits is the most open tickets of one socket whose places are shown.
const maxWaits = 32

// wait is an open ticket of the session, and the place that was shown of it last.
type wait struct {
	cmid  string
	lane  chat.Lane // empty: not looked up yet
	shown queueFrame
}

// track keeps the open tickets from the events that pass.
func (f *feed) track(e chat.Event) {
	switch {
	case e.Status.Ended():
		delete(f.waits, e.Ticket)
	case e.Who == chat.ByCustomer && len(f.waits) < maxWaits:
		f.waits[e.Ticket] = &wait{cmid: e.CMID}
	}
}

// soon is when to look at a new ticket: the line may not know it yet.
func (f *feed) soon() time.Duration { return f.cfg.Refresh / 8 }

// showPlaces sends the places that changed and returns when to look again; 0: not
// before another ticket comes.
func (f *feed) showPlaces(ctx context.Context) (again time.Duration) {
	if len(f.waits) > 0 {
		again = f.cfg.Refresh
	}
	for ticket, w := range f.waits {
		if sending := f.sending.Load(); sending != nil && *sending == w.cmid {
			// Its ack goes first.
			again = f.soon()
			continue
		}
		position, eta, ok := f.line.Standing(ticket)
		if !ok || !f.lookUp(ctx, ticket, w) {
			continue
		}
		now := queueFrame{Type: "queue", Ticket: ticket, Lane: w.lane, Position: position, ETAMS: eta.Milliseconds()}
		if w.shown.Lane == now.Lane {
			// A place in a lane never gets worse in the eyes of who waits.
			now.Position = min(now.Position, w.shown.Position)
		}
		if now == w.shown {
			continue
		}
		w.shown = now
		if !f.write(ctx, now) {
			return 0
		}
	}
	return again
}

// lookUp finds the lane of a ticket: its event does not name it.
func (f *feed) lookUp(ctx context.Context, ticket string, w *wait) bool {
	if w.lane != "" {
		return true
	}
	s, err := f.queue.Ticket(ctx, ticket)
	if errors.Is(err, queue.ErrNotFound) || (err == nil && s.Status.Ended()) {
		delete(f.waits, ticket)
		return false
	}
	// After another error the next look tries again.
	w.lane = s.Lane
	return err == nil
}
