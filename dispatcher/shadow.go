package dispatcher

import (
	"context"
	"math/rand/v2"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// shadowLimit is the longest that a rung in the shadow may take, its wait for a permit
// included.
const shadowLimit = 30 * time.Second

// shadow tries the lower rungs on a small part of what the agent has answered in calm
// times, so that they are known to work when they are needed, and how long they take.
// Nobody sees the answers. One try at a time: while it runs, others are left out. Its call
// waits behind everybody, as one of a batch does.
func (d *Dispatcher) shadow(s queue.Stored, how chat.Effort) {
	if s.Level > 0 || how.Route != chat.RouteAgent || !s.Lane.Interactive() || rand.Float64() >= d.cfg.Rules().Shadow {
		return
	}
	select {
	case d.shadowing <- struct{}{}:
	default:
		return
	}
	d.jobs.Go(func() {
		defer func() { <-d.shadowing }()
		ctx, cancel := context.WithTimeout(d.calm, shadowLimit)
		defer cancel()
		_, fits := d.written(&s, decision{action: answer, reason: chat.ReasonLevel})
		known := d.knows(&s)
		log := d.log.Info().Str("ticket", s.ID).Bool("faq", fits).Bool("known", known)
		if known {
			begun := time.Now()
			err := d.unseen(ctx, s, chat.Effort{Route: chat.RouteRAG, Light: true})
			log = log.AnErr("rag", err).Int64("rag_ms", time.Since(begun).Milliseconds())
		}
		log.Msg("the lower rungs in the shadow")
	})
}

// unseen works out an answer that its customer does not see, with a call that waits behind
// everybody's, until ctx ends.
func (d *Dispatcher) unseen(ctx context.Context, s queue.Stored, how chat.Effort) error {
	a := d.ask(&s, how)
	// Not the ticket's own permit: that one has ended.
	a.Ticket, a.Lane, a.Urgent, a.AcceptedAt = chat.NewTicketID(), chat.Batch, false, time.Now()
	a.Deadline, _ = ctx.Deadline()
	permit, err := d.control.Ask(ctx, a)
	if err != nil {
		return err
	}
	caller := gate.NewCaller(d.control, a, permit)
	defer caller.Close()
	begun := time.Now()
	_, err = d.guarded(&s, func() (chat.Answer, error) { // without a Commit: nothing may be done for it
		return d.worker.Answer(gate.WithCaller(ctx, caller), chat.Question{Ticket: s.Ticket}, how, func(string) {})
	})
	if how.Route == chat.RouteRAG {
		d.pace.add(time.Since(begun))
	}
	return err
}
