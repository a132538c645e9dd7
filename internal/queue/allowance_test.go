package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
)

// askFrom accepts a message with a phone number and gives it a holder.
func (w *world) askFrom(session, phone string) asking {
	w.t.Helper()
	m := message(session, "Where is my order?")
	m.Phone = phone
	w.accept(m)
	j := w.pull(chat.Normal)
	s, err := w.Admit(w.t.Context(), j)
	if err != nil {
		w.t.Fatal(err)
	}
	return asking{j, s}
}

// name ends a ticket with the promise of its follow-up.
func (w *world) name(a asking, made chat.Promise, now time.Time) {
	w.t.Helper()
	a.Ticket.Answer(chat.Answer{
		Reply: chat.Reply{Text: "Later.", Locale: "en"}, Route: chat.RouteTemplate, Reason: chat.ReasonOverdue,
		FollowUp: chat.FollowUpID(a.ID), Promise: &made,
	}, now)
	if _, err := w.End(w.t.Context(), a.job, a.Stored); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) counted(key string, want int) {
	w.t.Helper()
	if got, _, err := w.textCount(w.t.Context(), key); err != nil || got.n != want || len(got.marks) != want*countMark {
		w.t.Errorf("%s counts %d with %d bytes of marks (%v), want %d", key, got.n, len(got.marks), err, want)
	}
}

// Two processes promise at once, more than the cap of the number allows.
func TestNoMoreIsPromisedAtOnceThanACapAllows(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		const asked, most = 24, 5
		other, now := w.open(), time.Now()
		caps := chat.TextCaps{PerNumber: most, PerTenant: 100}
		var all []asking
		for i := range asked {
			all = append(all, w.askFrom(fmt.Sprintf("s%d", i), "+8613800138000"))
		}
		errs := make([]error, asked)
		var both sync.WaitGroup
		for i := range all {
			both.Go(func() {
				q := []*Queue{w.Queue, other}[i%2]
				_, _, errs[i] = q.Promise(t.Context(), &all[i].Ticket, now, owedFor, caps)
			})
		}
		both.Wait()
		made := 0
		for i, err := range errs {
			if err == nil {
				made++
			} else if !errors.Is(err, ErrCapped) {
				t.Errorf("promise %d: %v", i, err)
			}
		}
		if made != most {
			t.Errorf("%d promises, want %d", made, most)
		}
		w.counted(numberCount("+8613800138000", now), most)
		w.counted(tenantCount("demo", now), most)
		w.depth(chat.Deferred, most) // a follow-up without a promise is dropped at once
	})
}

// capStep is one thing that happens to promises; Pick names the one that it happens to.
type capStep struct {
	Do     string
	Number int
	Pick   int
}

// TestNoPromiseIsBrokenByACap plays random histories of promises at small caps, from before
// midnight on and by two processes: they are met, called off, never named, sent, or fail
// before they leave. At each step one is made exactly where every day in which its text might go
// out has a place for its number and its tenant, and each that was made may go out.
func TestNoPromiseIsBrokenByACap(t *testing.T) {
	const histories = 6
	played := 0
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) capStep {
			return capStep{
				Do: rapid.SampledFrom([]string{
					"promise", "promise", "promise", "promise", "meet", "call off", "unnamed", "send", "fail", "pass",
				}).Draw(t, "do"),
				Number: rapid.IntRange(0, 2).Draw(t, "number"),
				Pick:   rapid.IntRange(0, 9).Draw(t, "pick"),
			}
		}), 10, 30).Draw(rt, "steps")
		if played++; played > histories {
			return
		}
		var fault error
		queuetest.Bubble(t, func(t *testing.T) {
			w := newWorld(t, nil)
			defer w.close()
			fault = (&capWorld{
				world: w, queues: []*Queue{w.Queue, w.open()}, outbox: NewOutbox(w.Queue),
				now: time.Now().UTC().Add(23 * time.Hour), held: map[string]map[string]bool{},
			}).play(steps)
		})
		if fault != nil {
			played = 0 // what follows looks for a shorter one
			rt.Fatal(fault)
		}
	})
}

// capWorld has a clock of its own, and knows what each count must hold.
type capWorld struct {
	*world
	queues []*Queue
	outbox *Outbox
	now    time.Time
	asked  int
	open   []Owed                     // promised, not turned
	held   map[string]map[string]bool // count → follow-ups
}

var smallCaps = chat.TextCaps{PerNumber: 2, PerTenant: 4}

func (c *capWorld) play(steps []capStep) error {
	for i, s := range steps {
		if err := c.step(s); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, s.Do, err)
		}
		for key, ids := range c.held {
			if strings.Split(key, ".")[1] < textDay(c.now) {
				continue // a day that is over
			}
			if got, _, err := c.textCount(c.t.Context(), key); err != nil || got.n != len(ids) {
				return fmt.Errorf("step %d, %s: %s counts %d (%w), want %d", i, s.Do, key, got.n, err, len(ids))
			}
		}
	}
	return nil
}

func (c *capWorld) step(s capStep) error {
	switch s.Do {
	case "promise", "unnamed":
		return c.promise(s)
	case "pass":
		c.now = c.now.Add(25 * time.Minute)
		return nil
	}
	if len(c.open) == 0 {
		return nil
	}
	i := s.Pick % len(c.open)
	o := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	status := map[string]chat.PromiseStatus{"meet": chat.PromiseMet, "call off": chat.PromiseCancelled, "send": chat.PromiseSent, "fail": chat.PromiseSent}[s.Do]
	if status == chat.PromiseSent && !c.now.Before(o.DueAt) {
		status = chat.PromiseBroken // its time has passed
	}
	if _, err := c.SettlePromise(c.t.Context(), o.ID, status, "", c.now); err != nil {
		return err
	}
	if status != chat.PromiseSent {
		c.release(o.ID, "")
		return nil
	}
	return c.leave(o, s.Do == "send")
}

// promise makes one, and wants it made or refused as the counts say.
func (c *capWorld) promise(s capStep) error {
	phone := fmt.Sprintf("+861380013800%d", s.Number)
	a := c.askFrom(fmt.Sprintf("s%d", c.asked), phone)
	c.asked++
	id, room := chat.FollowUpID(a.ID), true
	var keys []string
	for _, at := range []time.Time{c.now, c.now.Add(30 * time.Minute)} {
		number, tenant := numberCount(phone, at), tenantCount("demo", at)
		keys = append(keys, number, tenant)
		room = room && len(c.held[number]) < smallCaps.PerNumber && len(c.held[tenant]) < smallCaps.PerTenant
	}
	_, made, err := c.queues[s.Pick%2].Promise(c.t.Context(), &a.Ticket, c.now, 30*time.Minute, smallCaps)
	if room != (err == nil) || err != nil && !errors.Is(err, ErrCapped) {
		return fmt.Errorf("there is room: %v; the promise: %w", room, err)
	}
	if err != nil || s.Do == "unnamed" {
		if _, err := c.Cancel(c.t.Context(), a.ID, chat.ReasonCustomer, c.now); err != nil || !room {
			return err
		}
		_, err := c.Cancel(c.t.Context(), id, chat.ReasonUnpromised, c.now)
		return err
	}
	c.name(a, made, c.now)
	for _, key := range keys {
		if c.held[key] == nil {
			c.held[key] = map[string]bool{}
		}
		c.held[key][id] = true
	}
	o, err := c.Owed(c.t.Context(), id)
	c.open = append(c.open, o)
	return err
}

// leave lets the notice of a promise go out, or fail before it does.
func (c *capWorld) leave(o Owed, sent bool) error {
	ctx := c.t.Context()
	n, err := c.Notice(ctx, o.ID)
	if err != nil {
		return err
	}
	if fault, err := c.outbox.Allow(ctx, n, smallCaps, c.now); err != nil || fault != "" {
		return fmt.Errorf("what was promised may not go out: %s (%w)", fault, err)
	}
	if !sent {
		n.Fail(chat.FaultQuiet, c.now)
		if n, _, err = c.outbox.Set(ctx, n); err != nil {
			return err
		}
		c.release(o.ID, "")
		return c.outbox.Settle(ctx, n, chat.PromiseBroken)
	}
	n.Turn(chat.NoticeSending, c.now)
	n.AskedAt, n.Tries = c.now, 1
	if n, _, err = c.outbox.Set(ctx, n); err != nil {
		return err
	}
	n.Turn(chat.NoticeSent, c.now)
	_, _, err = c.outbox.Set(ctx, n)
	c.release(o.ID, textDay(c.now))
	return err
}

// release forgets a promise in the counts of all later days than one; "": in all.
func (c *capWorld) release(id, day string) {
	for key, ids := range c.held {
		if strings.Split(key, ".")[1] > day {
			delete(ids, id)
		}
	}
}
