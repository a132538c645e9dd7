package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// crashParent is the message whose answer promises, and crashOwed the time that its
// follow-up has.
const crashOwed = 3 * time.Second

var crashParent = chat.DerivedTicketID("crash")

// callOff waits until a ticket has ended, and calls off what it promised.
func callOff(ctx context.Context, q *queue.Queue, id string) error {
	return eachTick(ctx, func() (bool, error) {
		s, err := q.Ticket(ctx, id)
		if err != nil || !s.Status.Ended() {
			return false, err
		}
		_, err = q.CallOff(ctx, &s.Ticket, chat.ReasonCustomer, time.Now())
		if errors.Is(err, queue.ErrEnded) {
			err = nil
		}
		return true, err
	})
}

// TestAKillLeavesNoPromiseThatIsForgotten ends a process before each write of a promise:
// those of the ticket that makes it, of its follow-up, and of the promise itself. The next
// process finds a reply that claims none and none that is owed, or one that comes to one
// end, of which its session is told once.
func TestAKillLeavesNoPromiseThatIsForgotten(t *testing.T) {
	t.Parallel()
	quick := crashVendors(t, sim.Behaviour{FirstToken: sim.Fixed(5 * time.Millisecond), Call: sim.Fixed(10 * time.Millisecond)})
	silent := crashVendors(t, sim.Behaviour{HangShare: 1})
	followUp := chat.FollowUpID(crashParent)
	for n, c := range promiseCrashes(followUp) {
		if n%killEach != 0 {
			continue
		}
		t.Run(string(c.DieAt)+" of "+map[string]string{crashParent: "the parent", followUp: "the follow-up"}[c.Of], func(t *testing.T) {
			t.Parallel()
			c.Dir, c.Vendors, c.Key, c.Promise = t.TempDir(), quick, "the key", true
			if c.CallOff {
				c.Vendors = silent
			}
			mustDie(t, c)
			c.DieAt = ""
			checkPromise(t, mustLive(t, c))
		})
	}
}

func promiseCrashes(followUp string) (all []crashPlan) {
	for _, p := range []queue.Point{queue.EndTicket, queue.EndEvent, queue.EndStory, queue.EndLane} {
		all = append(all, crashPlan{DieAt: p, Of: crashParent}, crashPlan{DieAt: p, Of: followUp})
	}
	for _, p := range []queue.Point{queue.IntakeTicket, queue.IntakeLane, queue.IntakeQueued, queue.TakeTicket} {
		all = append(all, crashPlan{DieAt: p, Of: followUp})
	}
	for _, p := range queue.PromisePoints() {
		all = append(all, crashPlan{DieAt: p, Of: followUp})
	}
	for _, p := range []queue.Point{queue.CancelTicket, queue.CancelEvent, queue.CancelStory, queue.CancelLane, queue.PromiseFreed} {
		all = append(all, crashPlan{DieAt: p, Of: followUp, CallOff: true})
	}
	return all
}

// checkPromise asserts that the reply, the record, the session and the outbox agree.
func checkPromise(t *testing.T, r crashReport) {
	t.Helper()
	parent := r.Ticket
	claimed := parent.FollowUp != ""
	if parent.Status != chat.Answered || parent.Route != chat.RouteTemplate || claimed != (r.Owed != nil) ||
		claimed != strings.Contains(parent.Reply.Text, chat.ShortCode(chat.FollowUpID(parent.ID))) {
		t.Fatalf("the ticket %+v, what is owed %+v", parent, r.Owed)
	}
	var told []chat.PromiseStatus
	for i, e := range r.Events {
		if e.Seq != uint64(i+1) {
			t.Errorf("event %d:%s", i+1, fmtEvents(r.Events))
		}
		if e.Kind == chat.KindPromise {
			told = append(told, e.Promise.Status)
		}
	}
	if !claimed {
		if len(told) > 0 || len(r.Notices) > 0 {
			t.Errorf("nobody was promised anything, the session was told %v", told)
		}
		return
	}
	if len(told) != 2 || told[0] != chat.Promised || told[1] != r.Owed.Status {
		t.Errorf("the session was told %v, the promise is %s", told, r.Owed.Status)
	}
	if sent := r.Owed.Status == chat.PromiseSent; sent != (len(r.Notices) == 1) || len(r.Notices) > 1 {
		t.Errorf("%d notices of a promise that is %s", len(r.Notices), r.Owed.Status)
	}
}
