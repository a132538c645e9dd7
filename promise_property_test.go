package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// owing plays steps in which answers are promised for later.
type owing struct {
	*trial
	asked []chat.Ticket
}

func drawOwing(t *rapid.T) []step {
	points := slices.Concat(queue.Points(), queue.PromisePoints(), queue.PromisePoints(), []queue.Point{queue.PromiseFreed, queue.PromiseHook})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			After: rapid.SampledFrom([]int{0, 0, 20, 300, 1500, 9000, 25_000}).Draw(t, "after"),
			Do: rapid.SampledFrom([]string{
				"ask", "ask", "ask", "ask", "read", "cancel", "purge", "stop", "die", "die", "broker", "fail", "silence", "heal", "lose", "again",
			}).Draw(t, "do"),
			Session: rapid.IntRange(0, 3).Draw(t, "session"),
			Pick:    rapid.IntRange(0, 20).Draw(t, "pick"),
			Lane:    rapid.SampledFrom([]chat.Lane{chat.High, chat.Normal, chat.Low}).Draw(t, "lane"),
			Wait:    rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "wait"),
			Point:   rapid.SampledFrom(points).Draw(t, "point"),
		}
	}), 5, 30).Draw(t, "steps")
}

// TestNoPromiseIsForgotten plays random histories of customers who are answered later:
// under overload, failing vendors, deaths at every write, restarts of the broker, lost lane
// messages, cancels, purges and customers who read. Whatever happened, a reply that claims a
// promise has one, which came to one end, no later than 5 s after its deadline while
// somebody was there to see to it, and the session was told of it once and in order; a reply
// that claims none has none.
func TestNoPromiseIsForgotten(t *testing.T) {
	played := 0
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawOwing(rt)
		if played++; played > owingHistories {
			return
		}
		var fault error
		queuetest.Bubble(t, func(t *testing.T) { fault = playOwing(t, steps) })
		if fault != nil {
			played = 0 // what follows looks for a shorter one
			rt.Fatal(fault)
		}
	})
}

func playOwing(t *testing.T, steps []step) error {
	doc := smallRules + "lanes: {deferred: {bound: 20, max_wait: 60s}}\n"
	o := &owing{trial: &trial{
		w: newWorld(t, testRules(t, doc), sim.Behaviour{}), accepted: map[string]bool{}, requeued: map[string]string{},
	}}
	o.l = o.w.live()
	for _, s := range steps {
		time.Sleep(time.Duration(s.After) * time.Millisecond)
		o.step(s)
		o.revive()
	}
	o.l.armed("", 0)
	o.revive()
	o.heal()
	fault := o.verify()
	o.l.stop()
	for _, l := range o.dead {
		l.bury()
	}
	o.w.close()
	return fault
}

// revive starts a process after the death of the last one.
func (o *owing) revive() {
	select {
	case <-o.l.crashed:
		o.rebirth()
	default:
	}
}

func (o *owing) step(s step) {
	ctx, q := o.w.t.Context(), o.l.queue
	session := fmt.Sprintf("s%d", s.Session)
	switch s.Do {
	case "ask":
		t := o.w.ask(session, fmt.Sprintf("Question %d: where is order %d?", len(o.asked), 1000+len(o.asked)), s.Lane, time.Duration(s.Wait)*time.Second)
		t.Intent, t.Phone = "order_track", "+8613800138000"
		o.asked = append(o.asked, t)
		o.submit(t)
	case "again":
		if len(o.asked) > 0 {
			o.submit(o.asked[s.Pick%len(o.asked)])
		}
	case "read":
		_ = q.Read(ctx, "demo", session, 1000)
	case "cancel":
		if len(o.asked) > 0 {
			id := o.asked[s.Pick%len(o.asked)].ID
			if s.Wait == 0 {
				id = chat.FollowUpID(id)
			}
			if t, err := q.Ticket(ctx, id); err == nil {
				_, _ = q.CallOff(ctx, &t.Ticket, chat.ReasonCustomer, time.Now())
			}
		}
	case "purge":
		for _, t := range o.asked {
			_, _ = q.Cancel(ctx, chat.FollowUpID(t.ID), chat.ReasonOperator, time.Now())
		}
	case "lose":
		o.lose()
	case "silence":
		o.behave(sim.Behaviour{HangShare: 1})
	case "die":
		o.l.armed(s.Point, s.Pick%3)
	default:
		o.play(s)
	}
}

// lose empties the lane of the follow-ups behind the back of everybody.
func (o *owing) lose() {
	_, _ = o.l.nc.Request("$JS.API.STREAM.PURGE.LANE_DEFERRED", nil, time.Second)
}

// verify waits for all ends, and then compares what each reply says with what is owed.
func (o *owing) verify() error {
	ctx := o.w.t.Context()
	if _, err := o.ends(); err != nil {
		return err
	}
	time.Sleep(2 * time.Minute) // every deadline, every sweep's first look
	for id := range o.accepted {
		parent, err := o.l.queue.Ticket(ctx, id)
		if err != nil {
			return err
		}
		if err := o.check(ctx, &parent.Ticket); err != nil {
			return fmt.Errorf("ticket %s (%s by %q, %s): %w", id, parent.Status, parent.Route, parent.Reason, err)
		}
	}
	return errors.Join(o.checkPermits(), o.checkSeqs(ctx))
}

func (o *owing) check(ctx context.Context, parent *chat.Ticket) error {
	id := chat.FollowUpID(parent.ID)
	owed, err := o.l.queue.Owed(ctx, id)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return err
	}
	owes := err == nil
	claims := parent.FollowUp != ""
	worded := parent.Reply != nil && strings.Contains(parent.Reply.Text, chat.ShortCode(id))
	events, _, _, err := o.l.queue.Events(ctx, "demo", parent.Session, 0, 10_000)
	if err != nil {
		return err
	}
	var told []chat.PromiseStatus
	for _, e := range events {
		if e.Kind == chat.KindPromise && e.Ticket == id {
			told = append(told, e.Promise.Status)
		}
	}
	switch {
	case claims != worded || claims != owes:
		return fmt.Errorf("names a promise: %v, says so: %v, one is owed: %v", claims, worded, owes)
	case !claims && len(told) > 0:
		return fmt.Errorf("no promise, and the session was told %v", told)
	case !claims:
		return nil
	}
	notices, err := o.l.queue.Notices(ctx, 0, 1000)
	n := 0
	for _, notice := range notices {
		if notice.ID == id {
			n++
		}
	}
	want := []chat.PromiseStatus{chat.Promised, owed.Status}
	if n == 1 && owed.Status == chat.PromiseBroken { // its notice could not leave in time
		want = []chat.PromiseStatus{chat.Promised, chat.PromiseSent, chat.PromiseBroken}
	}
	switch {
	case err != nil:
		return err
	case owed.Status == chat.Promised || !slices.Equal(told, want):
		return fmt.Errorf("the promise is %s, the session was told %v, want %v:%s", owed.Status, told, want, fmtEvents(events))
	case (owed.Status == chat.PromiseSent) != (n == 1) && owed.Status != chat.PromiseBroken:
		return fmt.Errorf("the promise is %s, and there are %d notices", owed.Status, n)
	}
	return nil
}

// checkSeqs looks for gaps, and for a ticket that ended twice.
func (o *owing) checkSeqs(ctx context.Context) error {
	for i := range 4 {
		events, _, _, err := o.l.queue.Events(ctx, "demo", fmt.Sprintf("s%d", i), 0, 10_000)
		if err != nil {
			return err
		}
		ended := map[string]bool{}
		for n, e := range events {
			if e.Seq != uint64(n+1) || e.Status.Ended() && ended[e.Ticket] {
				return fmt.Errorf("session s%d, event %d:%s", i, n+1, fmtEvents(events))
			}
			ended[e.Ticket] = ended[e.Ticket] || e.Status.Ended()
		}
	}
	return nil
}
