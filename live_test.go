package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// follower is the live rules of one process.
type follower struct {
	*live
	e *engine

	mu    sync.Mutex
	heard []int // bounds of lane high that a hook heard
}

// follow starts the live rules of a process on a world that has rules stored. Patterns
// tell its intents.
func (w *world) follow() *follower { return w.pupil(nil) }

// pupil is one that learns its intents too.
func (w *world) pupil(t teach) *follower {
	w.t.Helper()
	nc, err := w.broker.Dial()
	if err != nil {
		w.t.Fatal(err)
	}
	f := &follower{e: &engine{nc: nc}}
	if f.e.store, err = queue.OpenRules(w.t.Context(), nc, 1); err != nil {
		w.t.Fatal(err)
	}
	doc, rev, err := f.e.store.Load(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	f.e.rules, f.e.rev = testRules(w.t, string(doc)), rev
	if f.e.queue, err = queue.Open(w.t.Context(), nc, queue.Config{Bounds: bounds(f.e.rules), Log: zerolog.Nop()}); err != nil {
		w.t.Fatal(err)
	}
	if f.live, err = newLive(f.e, func(r *rules.Rules) (*rules.Rules, error) { return r, nil }, teacher{teach: t, wide: true}, zerolog.Nop()); err != nil {
		w.t.Fatal(err)
	}
	f.onChange(func(r *rules.Rules) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.heard = append(f.heard, r.Lanes[chat.High].Bound)
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
		nc.Close()
	})
	return f
}

// put stores a document over the newest one.
func (f *follower) put(t *testing.T, doc string) {
	t.Helper()
	_, rev, err := f.e.store.Load(t.Context())
	if err == nil {
		_, err = f.e.store.Change(t.Context(), []byte(doc), rev, queue.Authorship{Actor: "admin", Reason: "test"})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// storeRules stores the first document of a world.
func (w *world) storeRules(doc string) {
	w.t.Helper()
	nc, err := w.broker.Dial()
	if err != nil {
		w.t.Fatal(err)
	}
	defer nc.Close()
	store, err := queue.OpenRules(w.t.Context(), nc, 1)
	if err == nil {
		_, err = store.Store(w.t.Context(), []byte(doc), 0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestNewRulesAreInForceInEveryProcessAtOnce(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		t.Cleanup(w.close)
		w.storeRules(smallRules)
		one, two := w.follow(), w.follow()
		time.Sleep(time.Second)
		one.put(t, "lanes:\n  high: {bound: 7, max_wait: 3s}\nintents: [{name: parcel, patterns: [parcel], template: {zh: 包裹, en: Your parcel}}]\n"+smallRules)
		time.Sleep(100 * time.Millisecond)
		for _, f := range []*follower{one, two} {
			if l := f.rules().Lanes[chat.High]; l.Bound != 7 || l.MaxWait != 3*time.Second {
				t.Errorf("lane high: %+v", l)
			}
			if intent, _ := f.classify("Where is my parcel?"); intent != "parcel" {
				t.Errorf("intent %s, want parcel", intent)
			}
			answer := f.answer(&chat.Ticket{Intent: "parcel", Language: chat.English}, chat.ReasonOverdue)
			if answer.Reply.Text != "Your parcel" || answer.Reason != chat.ReasonOverdue {
				t.Errorf("%+v", answer)
			}
		}
		for _, bound := range []string{"8", "9"} {
			two.put(t, "lanes: {high: {bound: "+bound+"}}\n"+smallRules)
			time.Sleep(100 * time.Millisecond)
		}
		one.mu.Lock()
		defer one.mu.Unlock()
		if !slices.Equal(one.heard, []int{7, 8, 9}) {
			t.Errorf("the hook heard %v", one.heard)
		}
	})
}

func TestRulesThatCannotBeReadLeaveTheLastOnesInForce(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		t.Cleanup(w.close)
		w.storeRules(smallRules)
		f := w.follow()
		before := f.rules()
		f.put(t, "from_the_future: 1\n"+smallRules)
		time.Sleep(5 * time.Second)
		state, err := f.check(t.Context())
		if err == nil || !strings.Contains(err.Error(), "stored rules:1:1: from_the_future") || state != "revision 2 cannot be put into force, 1 holds" {
			t.Errorf("%s, %v", state, err)
		}
		f.mu.Lock()
		heard := len(f.heard)
		f.mu.Unlock()
		if f.rules() != before || heard != 0 {
			t.Error("other rules are in force")
		}
		f.put(t, "lanes: {high: {bound: 8}}\n"+smallRules)
		time.Sleep(100 * time.Millisecond)
		if state, err := f.check(t.Context()); err != nil || state != "revision 3" || f.rules().Lanes[chat.High].Bound != 8 {
			t.Errorf("%s, %v", state, err)
		}
	})
}

func TestBoundsFollowTheRulesAndDeleteNoJob(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		t.Cleanup(w.close)
		w.storeRules("lanes: {high: {bound: 3}}\n" + smallRules)
		one, _ := w.follow(), w.follow()
		standing := func(depth, bound int) {
			t.Helper()
			if s, err := one.e.queue.Standing(t.Context(), chat.High); err != nil || s.Depth != depth || s.Bound != bound {
				t.Errorf("depth %d, bound %d (%v); want %d, %d", s.Depth, s.Bound, err, depth, bound)
			}
		}
		for range 3 {
			if _, _, err := one.e.queue.Accept(t.Context(), w.ask(chat.NewSessionID(), "hello", chat.High, time.Minute), queue.Claim{}); err != nil {
				t.Fatal(err)
			}
		}
		one.put(t, "lanes: {high: {bound: 1}}\n"+smallRules)
		time.Sleep(5 * time.Second)
		standing(3, 1)
		for depth := 2; depth >= 1; depth-- {
			var job *queue.Job
			if err := one.e.queue.Pull(t.Context(), chat.High, 1, time.Second, func(j *queue.Job) { job = j }); err != nil {
				t.Fatal(err)
			}
			if _, err := one.e.queue.Cancel(t.Context(), job.Ticket.ID, chat.ReasonCustomer, time.Now()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			standing(depth, 1)
		}
		one.put(t, "lanes: {high: {bound: 9}}\n"+smallRules)
		time.Sleep(3 * time.Second)
		standing(1, 9)
	})
}

func TestWhatCannotChangeWhileProcessesRunIsRefused(t *testing.T) {
	t.Parallel()
	now := testRules(t, smallRules)
	if field, reason := unfit(now, testRules(t, "replicas: 3\n"+smallRules)); field != "replicas" || !strings.Contains(reason, "must stay 1") {
		t.Errorf("%s %s", field, reason)
	}
	other := strings.Replace(smallRules, "{name: b,", "{name: b, kind: anthropic,", 1)
	if field, _ := unfit(now, testRules(t, other)); field != "vendors[1].kind" {
		t.Errorf("%s", field)
	}
	if field, reason := unfit(now, testRules(t, "lanes: {high: {bound: 1}}\n"+smallRules)); field != "" {
		t.Errorf("%s %s", field, reason)
	}
}
