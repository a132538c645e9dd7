package dispatcher

import (
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// pressing is an urgent ticket of a session.
func pressing(session string, wait time.Duration) chat.Ticket {
	t := ticket(session, "I want to complain", chat.High, wait)
	t.Urgent = true
	return t
}

// story returns what the session's customer was told, in order.
func (w *world) story(session string) []string {
	w.t.Helper()
	events, _, ok, err := w.queue.Events(w.t.Context(), "demo", session, 0, 100)
	if err != nil || !ok {
		w.t.Fatalf("events: %v (%v)", err, ok)
	}
	var all []string
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			w.t.Errorf("event %d has seq %d", i+1, e.Seq)
		}
		all = append(all, string(e.Who)+" "+string(e.Kind)+" "+string(e.Owner)+string(e.Route))
	}
	return all
}

// occupy takes the only permit; the returned func gives it back.
func (w *world) occupy() func() {
	w.t.Helper()
	held, err := w.life.member.Ask(w.t.Context(), gate.Ask{
		Tenant: "demo", Session: "x", Ticket: "x", Lane: chat.High, Vendors: []string{"a"}, AcceptedAt: time.Now(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return func() { w.life.member.Release(held, 0) }
}

func (w *world) checkStory(session string, want ...string) {
	w.t.Helper()
	got := w.story(session)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			w.t.Fatalf("the session holds %q, want %q", got, want)
		}
	}
}

func (w *world) checkOwner(session string, want chat.Owner, listed int) {
	w.t.Helper()
	rec, err := w.queue.Session(w.t.Context(), "demo", session)
	if err != nil || rec.Owner != string(want) {
		w.t.Errorf("the session is %q's (%v), want %s", rec.Owner, err, want)
	}
	if all, err := w.queue.Handoffs(w.t.Context(), 0, 10); err != nil || len(all) != listed {
		w.t.Errorf("%d handoffs are listed (%v), want %d", len(all), err, listed)
	}
}

// TestUrgentAndOverdueGoesToPeople keeps every permit taken: at its limit the customer is
// told that people take over, the job waits on for 30 s, and ends by the template then.
func TestUrgentAndOverdueGoesToPeople(t *testing.T) {
	inBubble(t, setup{Limit: 1, UrgentWait: 30 * time.Second}, func(t *testing.T, w *world) {
		w.ready()
		defer w.occupy()()
		asked := w.accept(pressing("s", 5*time.Second))
		time.Sleep(5*time.Second + 100*time.Millisecond)
		if got := w.read(asked.ID); got.Status != chat.Queued || got.Handoff == nil || !got.Handoff.At.Before(asked.Deadline.Add(50*time.Millisecond)) {
			t.Fatalf("after its limit: %s, %+v", got.Status, got.Handoff)
		}
		w.checkOwner("s", chat.OwnerQueue, 1)
		got := w.until(asked.ID, time.Minute)
		if took := got.EndedAt.Sub(got.Handoff.At); got.Route != chat.RouteTemplate || got.Reason != chat.ReasonVendorUnavailable || took < 30*time.Second || took > 30*time.Second+50*time.Millisecond {
			t.Errorf("by %s (%s) %s after the handoff", got.Route, got.Reason, took)
		}
		w.checkStory("s", "customer message ", "system message ", "system owner queue", "bot message template")
		w.checkOwner("s", chat.OwnerQueue, 1)
		w.depth(chat.High, 0)
	})
}

// TestAVendorThatIsBackAnswersAfterAHandoff frees the permit ten seconds after the handoff.
func TestAVendorThatIsBackAnswersAfterAHandoff(t *testing.T) {
	inBubble(t, setup{Limit: 1, UrgentWait: 30 * time.Second}, func(t *testing.T, w *world) {
		w.ready()
		free := w.occupy()
		asked := w.accept(pressing("s", 2*time.Second))
		time.Sleep(12 * time.Second)
		free()
		got := w.until(asked.ID, 10*time.Second)
		if got.Route != chat.RouteAgent || got.Reason != "" || got.Handoff == nil {
			t.Errorf("by %s (%s), handed %v", got.Route, got.Reason, got.Handoff)
		}
		w.checkStory("s", "customer message ", "system message ", "system owner queue", "bot message agent")
	})
}

// TestUrgentAndNoVendorReachableGoesToPeopleAtOnce shuts the vendor by hand: the customer
// hears of people without waiting for the limit, and the vendor answers when it is back.
func TestUrgentAndNoVendorReachableGoesToPeopleAtOnce(t *testing.T) {
	inBubble(t, setup{Limit: 1, Predict: true, UrgentWait: 30 * time.Second}, func(t *testing.T, w *world) {
		w.ready()
		if err := w.life.member.Steer(t.Context(), "a", true); err != nil {
			t.Fatal(err)
		}
		asked := w.accept(pressing("s", 10*time.Second))
		time.Sleep(time.Second)
		if got := w.read(asked.ID); got.Status != chat.Queued || got.Handoff == nil {
			t.Fatalf("after a second: %s, %+v", got.Status, got.Handoff)
		}
		if err := w.life.member.Steer(t.Context(), "a", false); err != nil {
			t.Fatal(err)
		}
		if got := w.until(asked.ID, 5*time.Second); got.Route != chat.RouteAgent || got.Attempts != 1 {
			t.Errorf("by %s after %d attempts", got.Route, got.Attempts)
		}
		w.checkStory("s", "customer message ", "system message ", "system owner queue", "bot message agent")
	})
}

// TestUrgentAndRefusedByEveryVendorGoesToPeople has its call fail, and each that is made
// while it waits on: it stays for as long as the rules say.
func TestUrgentAndRefusedByEveryVendorGoesToPeople(t *testing.T) {
	inBubble(t, setup{Limit: 1, UrgentWait: 30 * time.Second, Behaviour: sim.Behaviour{ErrorShare: 1}}, func(t *testing.T, w *world) {
		w.ready()
		asked := w.accept(pressing("s", 5*time.Second))
		got := w.until(asked.ID, time.Minute)
		if got.Route != chat.RouteTemplate || got.Reason != chat.ReasonVendorUnavailable || got.Attempts < 3 || got.Attempts > 10 || got.Handoff == nil ||
			got.EndedAt.Sub(got.Handoff.At) < 29*time.Second-100*time.Millisecond || got.EndedAt.Sub(got.Handoff.At) > 30*time.Second+50*time.Millisecond {
			t.Errorf("by %s (%s) after %d attempts", got.Route, got.Reason, got.Attempts)
		}
		w.checkStory("s", "customer message ", "system message ", "system owner queue", "bot message template")
		if time.Sleep(300 * time.Millisecond); w.inUse() != 0 {
			t.Error("a permit is left")
		}
	})
}

// TestWhatPeopleHaveDoesNotHoldUpADrain begins to drain while a ticket waits after its
// handoff; one that comes to its limit while the lane drains is not handed off.
func TestWhatPeopleHaveDoesNotHoldUpADrain(t *testing.T) {
	var draining atomic.Bool
	set := setup{Limit: 1, UrgentWait: 30 * time.Second, Draining: func(chat.Lane) bool { return draining.Load() }}
	inBubble(t, set, func(t *testing.T, w *world) {
		w.ready()
		defer w.occupy()()
		first, second := w.accept(pressing("s", 2*time.Second)), w.accept(pressing("t", 10*time.Second))
		time.Sleep(5 * time.Second)
		draining.Store(true)
		if got := w.until(first.ID, 2*time.Second); got.Route != chat.RouteTemplate || got.Reason != chat.ReasonVendorUnavailable {
			t.Errorf("by %s (%s)", got.Route, got.Reason)
		}
		if got := w.until(second.ID, 8*time.Second); got.Reason != chat.ReasonOverdue || got.Handoff != nil {
			t.Errorf("the second: %s, handed %v", got.Reason, got.Handoff)
		}
		w.checkOwner("t", chat.OwnerBot, 1)
	})
}

// TestACrowdOfUrgentOnesIsTreatedAsAnyOther is the guard against a classifier that flags
// everything.
func TestACrowdOfUrgentOnesIsTreatedAsAnyOther(t *testing.T) {
	inBubble(t, setup{Limit: 1, UrgentWait: 30 * time.Second}, func(t *testing.T, w *world) {
		w.set.Valve = at(3)
		w.ready()
		time.Sleep(time.Second)
		one := pressing("s", 5*time.Second)
		one.Crowd = true
		if got := w.until(w.accept(one).ID, 2*time.Second); got.Route != chat.RouteTemplate || got.Reason != chat.ReasonLevel {
			t.Errorf("by %s (%s)", got.Route, got.Reason)
		}
	})
}

// TestAHandoffIsCompletedByTheNextHolder stops between the writes of a handoff.
func TestAHandoffIsCompletedByTheNextHolder(t *testing.T) {
	for _, point := range []queue.Point{queue.HandList, queue.HandEvent, queue.HandOwner} {
		inBubble(t, setup{Limit: 1, UrgentWait: 30 * time.Second}, func(t *testing.T, w *world) {
			w.breakAt(point)
			w.ready()
			defer w.occupy()()
			asked := w.accept(pressing("s", 2*time.Second))
			got := w.until(asked.ID, time.Minute)
			if got.Handoff == nil || got.Reason != chat.ReasonVendorUnavailable {
				t.Errorf("%s: handed %v, %s", point, got.Handoff, got.Reason)
			}
			w.checkStory("s", "customer message ", "system message ", "system owner queue", "bot message template")
			w.checkOwner("s", chat.OwnerQueue, 1)
		})
	}
}
