package queue

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

// How often the open promises are looked at; how long a full answer has to be read before
// its notice goes; how long before the deadline it goes in any case, so that no promise is
// broken for want of a moment.
const (
	owedEvery  = time.Second
	readFor    = 30 * time.Second
	noticeLead = 5 * time.Second
)

// Promises looks after the promises that are open: of all processes one does it at a time,
// and whichever comes next finds them in the bucket. It needs neither a dispatcher nor the
// lane: a promise whose job is lost is broken at its deadline as well.
type Promises struct {
	queue *Queue
	log   zerolog.Logger
	rest  zerolog.Logger // for what comes again and again while something is away
}

// NewPromises returns the stage; nothing is looked at before Run.
func NewPromises(q *Queue, log zerolog.Logger) *Promises {
	log = log.With().Str("stage", "promises").Logger()
	return &Promises{queue: q, log: log, rest: log.Sample(&zerolog.BurstSampler{Burst: 1, Period: quietFor})}
}

// Run looks after the open promises until ctx ends.
func (p *Promises) Run(ctx context.Context) error {
	every(ctx, owedEvery, nil, func() {
		mine, err := p.queue.Duty(ctx, "promises", owedEvery)
		if err == nil && mine {
			err = p.look(ctx)
		}
		if err != nil && ctx.Err() == nil {
			p.rest.Warn().Err(err).Msg("the open promises cannot be looked after, trying again")
		}
	})
	return nil
}

// look brings each open promise forward as far as its time has come. One that cannot be
// does not keep the others from it.
func (p *Promises) look(ctx context.Context) error {
	var open []Owed
	if err := p.queue.eachOpen(ctx, func(o Owed) { open = append(open, o) }); err != nil {
		return err
	}
	var fault error
	for _, o := range open {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.advance(ctx, o, time.Now().UTC()); err != nil && !errors.Is(err, ErrNotFound) {
			fault = err
		}
	}
	return fault
}

// advance does what is due for one promise at now.
func (p *Promises) advance(ctx context.Context, o Owed, now time.Time) error {
	if o.Status != chat.Promised {
		return p.close(ctx, o, now)
	}
	if o.Answer != nil {
		read, err := p.queue.readUpTo(ctx, o.Tenant, o.Session)
		if err != nil {
			return err
		}
		if read >= o.Answer.Seq {
			return p.settle(ctx, o, chat.PromiseMet, "", now)
		}
	}
	switch {
	case !now.Before(o.DueAt):
		return p.expire(ctx, o, now)
	case o.Answer == nil, now.Before(o.Answer.At.Add(readFor)) && now.Before(o.DueAt.Add(-noticeLead)):
		return nil
	}
	if mine, err := p.human(ctx, o, now); mine || err != nil {
		return err
	}
	room, err := p.queue.roomOutbox(ctx)
	if err != nil || !room {
		return errors.Join(err, ErrFull)
	}
	return p.settle(ctx, o, chat.PromiseSent, "", now)
}

// expire breaks a promise whose deadline has passed. While its parent is open it was not
// made yet.
func (p *Promises) expire(ctx context.Context, o Owed, now time.Time) error {
	named, ended, err := p.queue.named(ctx, o.Tenant, o.Parent, o.ID)
	switch {
	case err != nil || !ended:
		return err
	case !named:
		return p.queue.closeOwed(ctx, o)
	}
	if mine, err := p.human(ctx, o, now); mine || err != nil {
		return err
	}
	t, err := p.queue.Ticket(ctx, o.ID)
	if err == nil && t.Status == chat.Cancelled {
		return p.settle(ctx, o, chat.PromiseCancelled, t.Reason, now)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	why := chat.ReasonOverdue
	if t.Status == chat.Failed {
		why = t.Reason
	}
	return p.settle(ctx, o, chat.PromiseBroken, why, now)
}

// human calls off a promise whose session a person has: what that person says takes its
// place. False: nobody has it.
func (p *Promises) human(ctx context.Context, o Owed, now time.Time) (bool, error) {
	rec, err := p.queue.Session(ctx, o.Tenant, o.Session)
	if errors.Is(err, ErrNotFound) || err == nil && rec.Owner != string(chat.OwnerHuman) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, p.settle(ctx, o, chat.PromiseCancelled, chat.ReasonHuman, now)
}

// close finishes a promise that has turned. A notice for which the outbox has no room
// before the deadline never goes.
func (p *Promises) close(ctx context.Context, o Owed, now time.Time) error {
	err := p.queue.closePromise(ctx, o)
	if o.Status != chat.PromiseSent || now.Before(o.DueAt) || !errors.Is(err, ErrFull) && !errors.Is(err, ErrStorage) {
		return err
	}
	o.Status, o.At, o.Why = chat.PromiseBroken, now, chat.ReasonError
	o, err = p.queue.writeOwed(ctx, PromiseTurn, o)
	if err != nil {
		return err
	}
	return p.queue.closePromise(ctx, o)
}

func (p *Promises) settle(ctx context.Context, o Owed, status chat.PromiseStatus, why chat.Reason, now time.Time) error {
	done, err := p.queue.SettlePromise(ctx, o.ID, status, why, now)
	if err == nil && done.Status == status {
		p.log.Info().Str("ticket", o.ID).Str("tenant", o.Tenant).Str("promise", string(status)).Str("reason", string(why)).
			Int64("age_ms", now.Sub(o.MadeAt).Milliseconds()).Msg("promise")
	}
	return err
}
