package dispatcher

import (
	"context"
	"runtime/debug"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// Of a ticket that people have: how often it is looked whether its lane drains, or whether a
// vendor takes calls again, and the longest pause after a call that failed.
const (
	handedLook  = time.Second
	handedPause = 5 * time.Second
)

// hand gives an urgent ticket to people where no vendor takes it in time: its customer is
// told so, and it waits on, because a vendor may come back first. False: it is not to be
// handed off, or was already, or that could not be written: then it ends as any other.
func (d *Dispatcher) hand(ctx context.Context, s *queue.Stored, dec decision) bool {
	r := d.cfg.Rules()
	late := dec.reason == chat.ReasonOverdue || dec.reason == chat.ReasonVendorUnavailable
	if !late || !s.Pressing() || !s.Lane.Interactive() || s.Handoff != nil || s.Deed != nil || r.UrgentWait <= 0 || d.cfg.Draining(s.Lane) {
		return false
	}
	said, ok := d.handoffText(&s.Ticket)
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	now := time.Now()
	handed, err := d.queue.Hand(ctx, *s, said, now, now.Add(r.UrgentWait))
	if err != nil {
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("urgent, and cannot be handed to people")
	}
	if handed.Rev == s.Rev {
		return false // nothing was written
	}
	*s = handed // what is missing of it comes with the job's next delivery
	d.log.Info().Str("ticket", s.ID).Str("tenant", s.Tenant).Str("reason", string(dec.reason)).Msg("urgent: handed to people")
	return true
}

// bide lets a ticket that people have wait on after a vendor has failed it. False: there is
// no time for another try, or that could not be written.
func (d *Dispatcher) bide(ctx context.Context, s *queue.Stored, dec decision) bool {
	if s.Handoff == nil || s.Deed != nil || dec.reason != chat.ReasonVendorUnavailable || d.overstays(s) || time.Until(s.Deadline) <= handedLook {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	rested, err := d.queue.Rest(ctx, *s)
	if err != nil {
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("people have it, and it cannot wait on")
		return false
	}
	*s = rested
	return true
}

// pause waits after a call that failed, for a ticket that people have: not while its lane
// drains, and towards its deadline half of what is left, so that there is time for a try.
func (d *Dispatcher) pause(ctx context.Context, s *queue.Stored) {
	for left := min(handedPause, time.Until(s.Deadline)/2); left > 0 && ctx.Err() == nil && !d.overstays(s); left -= handedLook {
		wait(ctx, min(handedLook, left))
	}
}

func (d *Dispatcher) handoffText(t *chat.Ticket) (_ chat.Reply, ok bool) {
	defer func() {
		if recover() != nil {
			d.log.Error().Str("ticket", t.ID).Bytes("stack", debug.Stack()).Msg("the handoff's message panicked")
			ok = false
		}
	}()
	return d.worker.Handoff(t), true
}

// overstays reports whether a ticket that people have waits in a lane that drains.
func (d *Dispatcher) overstays(s *queue.Stored) bool {
	return s.Handoff != nil && d.cfg.Draining(s.Lane)
}

// lookAgain is when a ticket in line looks around: at its deadline, or earlier if people
// have it.
func (d *Dispatcher) lookAgain(s *queue.Stored) time.Time {
	if at := time.Now().Add(handedLook); s.Handoff != nil && at.Before(s.Deadline) {
		return at
	}
	return s.Deadline
}
