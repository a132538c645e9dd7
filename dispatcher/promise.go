package dispatcher

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// promiseLimit is how long the making of a promise may keep a customer from the template.
const promiseLimit = 2 * time.Second

// Deferral is how the full answer to a ticket may be promised for later.
type Deferral struct {
	Wait  time.Duration // the time that the follow-up has
	Caps  chat.TextCaps // of the text messages that tell of it
	Leave func()        // is called once the follow-up is in its lane
}

// promise lets an answer without meaning of its own promise that the full one follows,
// where the rules allow that. What the reply says is stored before, and its text counted;
// where that cannot be, in a full lane or at a cap for one, the answer stays as it is.
func (d *Dispatcher) promise(ctx context.Context, s *queue.Stored, dec decision, ans chat.Answer) chat.Answer {
	if d.cfg.Defer == nil || dec.action == bury || s.Phone == "" || s.Handoff != nil || !s.Lane.Interactive() {
		return ans
	}
	how, may := d.cfg.Defer(&s.Ticket)
	if !may {
		return ans
	}
	defer how.Leave()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), promiseLimit)
	defer cancel()
	id, made, err := d.queue.Promise(ctx, &s.Ticket, time.Now().UTC(), how.Wait, how.Caps)
	if err != nil {
		if !errors.Is(err, queue.ErrFull) && !errors.Is(err, queue.ErrEnded) && !errors.Is(err, queue.ErrCapped) {
			d.log.Warn().Err(err).Str("ticket", s.ID).Msg("no promise is made")
		}
		return ans
	}
	return d.worded(s, ans, id, made)
}

// worded puts a promise into the words of an answer. Where that panics there is none.
func (d *Dispatcher) worded(s *queue.Stored, ans chat.Answer, id string, made chat.Promise) (with chat.Answer) {
	defer func() {
		if recover() != nil {
			d.log.Error().Str("ticket", s.ID).Bytes("stack", debug.Stack()).Msg("the words of a promise panicked")
			with = ans
		}
	}()
	with = d.worker.Promise(ans, &s.Ticket, id, made)
	with.FollowUp, with.Promise = id, &made
	return with
}
