package dispatcher

import (
	"context"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// hushed ends a ticket whose session a person has, and reports whether it did: that person
// answers in the conversation. What has set out to do something that cannot be undone goes on.
// Where the engine does not tell, so does everything: the end is judged again.
func (d *Dispatcher) hushed(ctx context.Context, j *job, s queue.Stored) bool {
	if s.Lane == chat.Batch || s.Deed != nil {
		return false
	}
	human, err := d.queue.Overruled(ctx, &s.Ticket)
	if err != nil {
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("whether a person has the session is not known")
	}
	if err != nil || !human {
		return false
	}
	s.Ticket.Cancel(chat.ReasonHuman, time.Now())
	d.settle(ctx, j, s)
	return true
}

// handOver gives a ticket to people whose intent always goes there, and reports whether it
// did. Its customer is told so at once: neither a vendor nor a turn is waited for.
func (d *Dispatcher) handOver(ctx context.Context, j *job, s queue.Stored) bool {
	rule := d.cfg.HandsOff != nil && d.cfg.HandsOff(&s.Ticket)
	if !rule || s.Lane == chat.Batch || s.Deed != nil || s.Parent != "" || s.Handoff != nil || d.cfg.Draining(s.Lane) {
		return false
	}
	said, ok := d.handoffText(&s.Ticket)
	if !ok {
		return false
	}
	s.Ticket.Answer(chat.Answer{Reply: said, Route: chat.RouteTemplate, Handoff: chat.HandoffRule}, time.Now())
	d.settle(ctx, j, s)
	return true
}
