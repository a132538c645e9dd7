package dispatcher

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/sim"
)

func TestAVendorsFailureIsAnsweredByTheTemplate(t *testing.T) {
	for name, c := range map[string]struct {
		fault sim.Behaviour
		after time.Duration
	}{
		"error 500":        {sim.Behaviour{ErrorShare: 1, FirstToken: sim.Fixed(100 * time.Millisecond)}, 100 * time.Millisecond},
		"refused":          {sim.Behaviour{RefuseShare: 1}, 0},
		"truncated":        {sim.Behaviour{TruncateShare: 1}, -1},
		"error in stream":  {sim.Behaviour{StreamErrorShare: 1}, -1},
		"garbage":          {sim.Behaviour{GarbageShare: 1}, -1},
		"hangs":            {hanging, 10 * time.Second},
		"stalls in answer": {sim.Behaviour{StallShare: 1, FirstToken: sim.Fixed(0), Call: sim.Fixed(0)}, 15 * time.Second},
	} {
		inBubble(t, setup{Limit: 1, Behaviour: c.fault}, func(t *testing.T, w *world) {
			w.ready()
			asked := w.ask("我的订单在哪里？", chat.Normal, 5*time.Second)
			got := w.until(asked.ID, time.Minute)
			if got.Status != chat.Answered || got.Route != chat.RouteTemplate || got.Reason != chat.ReasonVendorUnavailable || got.Reply.Text != "稍后" || got.Vendor != "" {
				t.Errorf("%s: %s by %s (%s): %q", name, got.Status, got.Route, got.Reason, got.Reply.Text)
			}
			if took := got.EndedAt.Sub(*got.StartedAt); c.after >= 0 && took != c.after {
				t.Errorf("%s: took %s, want %s", name, took, c.after)
			}
			time.Sleep(300 * time.Millisecond)
			if w.inUse() != 0 {
				t.Errorf("%s: a permit is left", name)
			}
		})
	}
}

func TestAnAnswerHasAHardLimit(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(90 * time.Second), Answer: 20 * time.Second}, func(t *testing.T, w *world) {
		w.ready()
		got := w.until(w.ask("hello", chat.Normal, 5*time.Second).ID, time.Minute)
		if took := got.EndedAt.Sub(*got.StartedAt); took != 20*time.Second || got.Reason != chat.ReasonVendorUnavailable {
			t.Errorf("ended after %s: %s", took, got.Reason)
		}
	})
}

// fragile is a worker whose chain panics on one message.
type fragile struct{ Worker }

func (f fragile) Answer(ctx context.Context, q chat.Question, how chat.Effort, stream func(string)) (chat.Answer, error) {
	if q.Ticket.Message == "poison" {
		panic(q.Ticket.Message)
	}
	return chat.Answer{Reply: chat.Reply{Text: "fine"}, Route: chat.RouteAgent}, nil
}

func (f fragile) Settles(t *chat.Ticket, _ func() []chat.Event) bool {
	if t.Message == "poison" {
		panic(t.Message)
	}
	return false
}

func (f fragile) Recall(_ context.Context, t *chat.Ticket, _ chat.Effort, _ func() ([]chat.Event, bool)) chat.Recalled {
	if t.Message == "poison" {
		panic(t.Message)
	}
	return chat.Recalled{}
}

func (f fragile) Estimate(*chat.Ticket) int { return 0 }

func (f fragile) Knows(*chat.Ticket) bool { return false }

func (f fragile) Fallback(_ *chat.Ticket, reason chat.Reason) chat.Answer {
	return chat.Answer{Reply: chat.Reply{Text: "later"}, Route: chat.RouteTemplate, Reason: reason}
}

func TestAChainThatPanicsCostsOneAnswerAndNotTheProcess(t *testing.T) {
	inBubble(t, setup{Limit: 1, Worker: fragile{}}, func(t *testing.T, w *world) {
		w.ready()
		poison, fine := w.accept(ticket("s", "poison", chat.Normal, time.Minute)), w.accept(ticket("s", "hello", chat.Normal, time.Minute))
		if got := w.until(poison.ID, 5*time.Second); got.Reason != chat.ReasonError || got.Reply.Text != "later" || got.Attempts != 1 {
			t.Errorf("%+v", got)
		}
		if got := w.until(fine.ID, 5*time.Second); got.Reply.Text != "fine" {
			t.Errorf("%+v", got)
		}
		time.Sleep(50 * time.Millisecond) // what follows the end
		if w.inUse() != 0 {
			t.Error("a permit is left")
		}
	})
}

func TestDeltasComeInOrderAndBeforeTheFinalEvent(t *testing.T) {
	behaviour := sim.Behaviour{FirstToken: sim.Fixed(50 * time.Millisecond), Call: sim.Fixed(3 * time.Second), ChunkTokens: 1}
	inBubble(t, setup{Limit: 4, Behaviour: behaviour}, func(t *testing.T, w *world) {
		w.ready()
		var mu sync.Mutex
		deltas, finals := map[string][]chat.Delta{}, map[string]chat.Event{}
		stop, err := w.queue.Deltas(func(tenant, session string, d chat.Delta) {
			mu.Lock()
			defer mu.Unlock()
			if tenant != "demo" || !strings.HasPrefix(session, "s_") {
				t.Errorf("delta for %s.%s", tenant, session)
			}
			if _, ended := finals[d.Ticket]; ended {
				t.Error("a delta comes after the final event")
			}
			deltas[d.Ticket] = append(deltas[d.Ticket], d)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		ctx, cancel := context.WithCancel(t.Context())
		ready, fed := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(fed)
			_ = w.queue.Feed(ctx, ready, func(_, _ string, e chat.Event) {
				mu.Lock()
				defer mu.Unlock()
				if e.Status.Ended() {
					finals[e.Ticket] = e
				}
			})
		}()
		<-ready
		var all []chat.Ticket
		for range 8 {
			all = append(all, w.ask("Where is my order 1234, and when will it be here?", chat.Normal, time.Minute))
		}
		for _, asked := range all {
			w.until(asked.ID, time.Minute)
		}
		time.Sleep(time.Second)
		cancel()
		<-fed
		for _, asked := range all {
			var text strings.Builder
			for i, d := range deltas[asked.ID] {
				if d.I != i || d.Attempt != 1 || d.Text == "" {
					t.Fatalf("delta %d is %+v", i, d)
				}
				text.WriteString(d.Text)
			}
			final := finals[asked.ID].Text
			if len(deltas[asked.ID]) < 10 || !strings.HasPrefix(final, text.String()) || len(text.String()) < len(final)*3/4 {
				t.Errorf("%d deltas say %q, the event %q", len(deltas[asked.ID]), text.String(), final)
			}
		}
	})
}

// TestAnswersAreGivenWholeWhereTooManyAreStreamed leaves no room for one more stream.
func TestAnswersAreGivenWholeWhereTooManyAreStreamed(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(2 * time.Second)}, func(t *testing.T, w *world) {
		w.ready()
		for _, busy := range []int64{0, maxStreams} {
			w.life.dispatcher.streams.Store(busy)
			one := ticket(chat.NewSessionID(), "hello", chat.Normal, time.Minute)
			var deltas atomic.Int64
			stop, err := w.queue.Deltas(func(string, string, chat.Delta) { deltas.Add(1) })
			if err != nil {
				t.Fatal(err)
			}
			got := w.until(w.accept(one).ID, time.Minute)
			time.Sleep(100 * time.Millisecond)
			stop()
			if got.Route != chat.RouteAgent || (deltas.Load() > 0) != (busy == 0) || w.life.dispatcher.streams.Load() != busy {
				t.Errorf("with %d streams: by %s, %d deltas, %d streams afterwards", busy, got.Route, deltas.Load(), w.life.dispatcher.streams.Load())
			}
		}
	})
}
