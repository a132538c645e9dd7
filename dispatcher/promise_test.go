package dispatcher

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// within lets every answer be promised for later.
func within(wait time.Duration) func(*chat.Ticket) (Deferral, bool) { return capped(wait, 100) }

// capped lets so many answers be promised for later, to one number and by one tenant.
func capped(wait time.Duration, texts int) func(*chat.Ticket) (Deferral, bool) {
	d := Deferral{Wait: wait, Caps: chat.TextCaps{PerNumber: texts, PerTenant: texts}, Leave: func() {}}
	return func(*chat.Ticket) (Deferral, bool) { return d, true }
}

// call accepts a message with a phone number.
func (w *world) call(session, text string, wait time.Duration) chat.Ticket {
	w.t.Helper()
	t := ticket(session, text, chat.Normal, wait)
	t.Phone = "+8613800138000"
	return w.accept(t)
}

// watch lets somebody look after promises until the test ends.
func (w *world) watch() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = queue.NewPromises(w.queue, zerolog.Nop()).Run(ctx) }()
	return func() { cancel(); <-done }
}

func (w *world) promise(id string, want chat.PromiseStatus) {
	w.t.Helper()
	if o, err := w.queue.Owed(w.t.Context(), id); err != nil || o.Status != want {
		w.t.Errorf("promise is %s (%v), want %s", o.Status, err, want)
	}
}

func TestATemplatePromisesTheFullAnswerAndItComes(t *testing.T) {
	slow := sim.Behaviour{FirstToken: sim.Fixed(time.Second), Call: sim.Fixed(20 * time.Second)}
	inBubble(t, setup{Limit: 1, Behaviour: slow, Defer: within(10 * time.Minute)}, func(t *testing.T, w *world) {
		w.ready()
		defer w.watch()()
		w.ask("In front", chat.High, time.Minute)
		time.Sleep(50 * time.Millisecond)
		asked := w.call("s", "Where is my order 7?", 5*time.Second)
		got := w.until(asked.ID, 6*time.Second)
		id := chat.FollowUpID(asked.ID)
		if got.Route != chat.RouteTemplate || got.FollowUp != id || got.Promise == nil || !strings.Contains(got.Reply.Text, chat.ShortCode(id)) ||
			!strings.Contains(got.Reply.HTML, "8000") || !strings.HasPrefix(got.Reply.Text, "Later.") {
			t.Fatalf("the template: %+v, reply %+v", got, got.Reply)
		}
		follow := w.until(id, time.Minute)
		if follow.Status != chat.Answered || follow.Route != chat.RouteAgent || follow.Parent != asked.ID || follow.Attempts != 1 {
			t.Errorf("the follow-up: %+v", follow)
		}
		prompts := w.vendor.Prompts()
		last := prompts[len(prompts)-1].Messages
		if len(last) != 2 || last[1].Content != asked.Message {
			t.Errorf("its prompt: %+v, want the question alone", last)
		}
		time.Sleep(32 * time.Second)
		w.promise(id, chat.PromiseSent)
		w.depth(chat.Deferred, 0)
	})
}

func TestNoPromiseWithoutANumberOrAPlace(t *testing.T) {
	never := func(*chat.Ticket) (Deferral, bool) { return Deferral{}, false }
	for name, c := range map[string]struct {
		may   func(*chat.Ticket) (Deferral, bool)
		phone string
		bound int
	}{
		"no number":       {within(time.Minute), "", 0},
		"not allowed":     {never, "+8613800138000", 0},
		"nobody to allow": {nil, "+8613800138000", 0},
		"the lane full":   {within(time.Minute), "+8613800138000", 1},
		"a cap reached":   {capped(time.Minute, 0), "+8613800138000", 0},
	} {
		inBubble(t, setup{Limit: 1, Defer: c.may, Bound: c.bound}, func(t *testing.T, w *world) {
			if c.bound > 0 {
				w.ask("In front", chat.Deferred, time.Hour)
			}
			asked := ticket("s", "Where is my order 7?", chat.Normal, time.Second)
			asked.Phone = c.phone
			asked = w.accept(asked)
			time.Sleep(2 * time.Second)
			w.start() // overdue: it is answered before anybody grants a permit
			got := w.until(asked.ID, 200*time.Millisecond)
			if got.FollowUp != "" || got.Promise != nil || got.Reply.Text != "Later." {
				t.Errorf("%s: %+v, %q", name, got, got.Reply.Text)
			}
			time.Sleep(time.Second)
		})
	}
}

// One of two customers who left the same number is promised the last text of its day; the
// other one gets the template alone, and the promise is kept.
func TestAReplyBeyondACapPromisesNothing(t *testing.T) {
	inBubble(t, setup{Limit: 1, Defer: capped(10*time.Minute, 1)}, func(t *testing.T, w *world) {
		defer w.watch()()
		first, second := w.call("s1", "Where is my order 7?", time.Second), w.call("s2", "Where is my order 8?", time.Second)
		time.Sleep(2 * time.Second)
		w.start() // overdue: both are answered before anybody grants a permit
		made, bare := w.until(first.ID, time.Second), w.until(second.ID, time.Second)
		if made.FollowUp == "" {
			made, bare = bare, made
		}
		if made.FollowUp == "" || bare.FollowUp != "" || bare.Promise != nil || bare.Reply.Text != "Later." {
			t.Fatalf("with a promise: %+v; without: %+v, %q", made, bare, bare.Reply.Text)
		}
		w.until(made.FollowUp, time.Minute)
		time.Sleep(35 * time.Second)
		w.promise(made.FollowUp, chat.PromiseSent)
		w.depth(chat.Deferred, 0)
	})
}

// What was put off because of the load waits until it falls, or a third of its time is left.
func TestAFollowUpWaitsUntilTheLoadFalls(t *testing.T) {
	for name, c := range map[string]struct{ load, answered time.Duration }{
		"the load falls":  {10 * time.Second, 10 * time.Second},
		"the load stands": {time.Hour, 40 * time.Second},
	} {
		inBubble(t, setup{Limit: 1, Valve: at(3), Defer: within(time.Minute)}, func(t *testing.T, w *world) {
			w.set.Valve.Force.Until = time.Now().Add(c.load)
			w.ready()
			time.Sleep(2 * time.Second) // until the level is known
			asked := w.call("s", "Where is my order 7?", 5*time.Second)
			w.until(asked.ID, time.Second)
			got := w.until(chat.FollowUpID(asked.ID), time.Minute)
			if took := got.EndedAt.Sub(got.AcceptedAt); got.Route != chat.RouteAgent || took < c.answered-time.Second || took > c.answered+6*time.Second {
				t.Errorf("%s: by %s after %s, want %s", name, got.Route, took, c.answered)
			}
		})
	}
}

// It stands before no question that somebody waits for, and its prompt holds the answers
// that came in between.
func TestAFollowUpLetsTheSessionsQuestionsGoFirst(t *testing.T) {
	slow := sim.Behaviour{FirstToken: sim.Fixed(time.Second), Call: sim.Fixed(8 * time.Second)}
	inBubble(t, setup{Limit: 1, Behaviour: slow, Defer: within(10 * time.Minute)}, func(t *testing.T, w *world) {
		w.ready()
		defer w.watch()()
		w.ask("In front", chat.High, time.Minute)
		time.Sleep(50 * time.Millisecond)
		first := w.call("s", "Where is my order 7?", time.Second)
		second := w.call("s", "Do you ship to Lhasa?", time.Minute)
		id := w.until(first.ID, 2*time.Second).FollowUp
		answer := w.until(second.ID, time.Minute)
		follow := w.until(id, time.Minute)
		if answer.Route != chat.RouteAgent || follow.Route != chat.RouteAgent || follow.StartedAt.Before(*answer.EndedAt) {
			t.Errorf("the question %+v, the follow-up %+v", answer, follow)
		}
		prompts := w.vendor.Prompts()
		last := prompts[len(prompts)-1].Messages
		if len(last) != 4 || last[1].Content != second.Message || last[2].Content != answer.Reply.Text || last[3].Content != first.Message {
			t.Errorf("the follow-up's prompt: %+v", last)
		}
	})
}

// A vendor that fails is asked again, less and less often. What is not answered in time
// fails without another template, and the promise is shown as broken.
func TestAFollowUpThatNobodyAnswersBreaksItsPromise(t *testing.T) {
	for name, c := range map[string]struct {
		vendor  sim.Behaviour
		wait    time.Duration
		reason  chat.Reason
		prompts int // of the follow-up
	}{
		"no room":        {lasting(20 * time.Second), 10 * time.Second, chat.ReasonOverdue, 0},
		"a vendor fails": {sim.Behaviour{ErrorShare: 1}, 10 * time.Minute, chat.ReasonVendorUnavailable, 5},
	} {
		inBubble(t, setup{Limit: 1, Behaviour: c.vendor, Defer: within(c.wait)}, func(t *testing.T, w *world) {
			w.ready()
			defer w.watch()()
			if c.prompts == 0 {
				w.ask("In front", chat.High, time.Minute)
				time.Sleep(50 * time.Millisecond)
			}
			asked := w.call("s", "Where is my order 7?", time.Second)
			id := w.until(asked.ID, 2*time.Second).FollowUp
			follow := w.until(id, c.wait+10*time.Second)
			if follow.Status != chat.Failed || follow.Reason != c.reason || follow.Reply != nil || follow.Attempts != c.prompts {
				t.Errorf("%s: the follow-up %+v", name, follow)
			}
			time.Sleep(time.Second)
			w.promise(id, chat.PromiseBroken)
			w.depth(chat.Deferred, 0)
			time.Sleep(30 * time.Second)
		})
	}
}

func TestAFollowUpOfAnotherEndIsDropped(t *testing.T) {
	inBubble(t, setup{Limit: 1, Defer: within(time.Minute)}, func(t *testing.T, w *world) {
		asked := w.call("s", "Where is my order 7?", time.Minute)
		id, _, err := w.queue.Promise(t.Context(), &asked, time.Now(), time.Minute, chat.TextCaps{PerNumber: 1, PerTenant: 1})
		if err != nil {
			t.Fatal(err)
		}
		w.ready()
		got := w.until(asked.ID, 10*time.Second) // by the agent: nothing is promised
		follow := w.until(id, 10*time.Second)
		if got.FollowUp != "" || follow.Status != chat.Cancelled || follow.Reason != chat.ReasonUnpromised || follow.Attempts != 0 {
			t.Errorf("the ticket %+v, its follow-up %+v", got, follow)
		}
		time.Sleep(time.Second)
		w.depth(chat.Deferred, 0)
		if n := len(w.vendor.Prompts()); n != 1 {
			t.Errorf("the vendor was asked %d times, want once", n)
		}
	})
}
