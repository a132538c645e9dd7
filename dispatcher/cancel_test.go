package dispatcher

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// upstreamLimit is how long the vendor may see a call after its cancel.
const upstreamLimit = 200 * time.Millisecond

func (w *world) cancel(id string) {
	w.t.Helper()
	if _, err := w.queue.Cancel(w.t.Context(), id, chat.ReasonCustomer, time.Now()); err != nil {
		w.t.Errorf("cancel: %v", err)
	}
}

// pending returns how many jobs the lane thinks are in somebody's hands.
func (w *world) pending(lane string) int {
	w.t.Helper()
	js, err := jetstream.New(w.nc)
	if err != nil {
		w.t.Fatal(err)
	}
	cons, err := js.Consumer(w.t.Context(), lane, "dispatch")
	if err != nil {
		w.t.Fatal(err)
	}
	return cons.CachedInfo().NumAckPending
}

// Row 21 (QuantumNous/new-api#4186, BerriAI/litellm#13774): a client went, and the vendor
// went on. Here one goes before the first byte and in mid-stream; while it waits, see
// TestCancelOfAWaitingJobLeavesTheLineAtOnce. The cancel comes over another connection than
// the dispatcher's, as from another node.
func TestACancelReachesTheVendorFromAnotherNode(t *testing.T) {
	for when, after := range map[string]time.Duration{
		"before the first byte": 500 * time.Millisecond,
		"in mid-stream":         4 * time.Second,
	} {
		behaviour := sim.Behaviour{FirstToken: sim.Fixed(2 * time.Second), Call: sim.Fixed(8 * time.Second)}
		inBubbleApart(t, setup{Limit: 1, Behaviour: behaviour}, func(t *testing.T, w *fleet) {
			node := w.join("one", 0)
			w.join("two", 0)
			running := w.ask("running", chat.Normal, time.Minute)
			time.Sleep(after)
			if n := w.vendor.Stats(); n.InFlight != 1 {
				t.Fatalf("%s: %d calls", when, n.InFlight)
			}
			w.cancel(running.ID)
			cancelled := time.Now()
			for w.vendor.Stats().InFlight > 0 && time.Since(cancelled) < time.Minute {
				time.Sleep(time.Millisecond)
			}
			if took := time.Since(cancelled); took > upstreamLimit || w.vendor.Stats().Cancelled != 1 {
				t.Errorf("%s: the vendor saw the call for %s more", when, took)
			}
			for w.inUse() > 0 && time.Since(cancelled) < time.Minute {
				time.Sleep(time.Millisecond)
			}
			// release_after_cancel, and then nothing more.
			if took := time.Since(cancelled); took < 250*time.Millisecond || took > 270*time.Millisecond {
				t.Errorf("%s: the permit was back after %s", when, took)
			}
			w.depth(chat.Normal, 0)
			time.Sleep(time.Minute)
			if got := w.read(running.ID); got.Status != chat.Cancelled || got.Reply != nil || len(w.vendor.Prompts()) != 1 || node.held() != 0 {
				t.Errorf("%s: %+v, %d calls, %d held", when, got, len(w.vendor.Prompts()), node.held())
			}
			w.answeredOnce(running)
			if n := w.pending("LANE_NORMAL"); n != 0 {
				t.Errorf("%s: the lane thinks that %d are held", when, n)
			}
		})
	}
}

// The process that cancels dies after its first write: no nudge, no event, the message
// still in its lane.
func TestACancelWithoutANudgeIsSeenWithTheNextHeartbeat(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Minute)}, func(t *testing.T, w *world) {
		w.ready()
		running := w.ask("running", chat.Normal, time.Minute)
		time.Sleep(5 * time.Second)
		s, err := w.queue.Ticket(t.Context(), running.ID)
		if err != nil {
			t.Fatal(err)
		}
		s.Ticket.Cancel(chat.ReasonCustomer, time.Now())
		body, err := json.Marshal(s.Ticket)
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(w.nc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.Publish(t.Context(), "$KV.tickets."+s.ID, body, jetstream.WithExpectLastSequencePerSubject(s.Rev)); err != nil {
			t.Fatal(err)
		}
		written := time.Now()
		for w.vendor.Stats().InFlight > 0 && time.Since(written) < time.Minute {
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(written); took > queue.Heartbeat+upstreamLimit {
			t.Errorf("the call ended %s after the cancel, want with the next heartbeat", took)
		}
		time.Sleep(2 * admitPause) // another delivery completes the end
		w.depth(chat.Normal, 0)
		past, err := w.queue.Past(t.Context(), "demo", running.Session, 9)
		if err != nil || len(past.Events) != 2 || past.Events[1].Status != chat.Cancelled {
			t.Errorf("events %+v, %v", past.Events, err)
		}
		if w.inUse() != 0 || w.held() != 0 || len(w.vendor.Prompts()) != 1 {
			t.Errorf("%d permits, %d jobs, %d calls", w.inUse(), w.held(), len(w.vendor.Prompts()))
		}
	})
}

// Of a batch nobody holds the waiting ones: they leave by their own sequence.
func TestACancelTakesAJobOutOfABatchThatNobodyHolds(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		w.ready()
		var all []chat.Ticket
		for range 20 {
			all = append(all, w.accept(ticket(chat.NewSessionID(), "line", chat.Batch, time.Hour)))
		}
		time.Sleep(500 * time.Millisecond)
		for i, asked := range all[5:15] {
			w.cancel(asked.ID)
			w.depth(chat.Batch, 20-i-1)
		}
		for i, asked := range all {
			want := chat.Answered
			if i >= 5 && i < 15 {
				want = chat.Cancelled
			}
			if got := w.until(asked.ID, time.Minute); got.Status != want {
				t.Errorf("line %d is %s", i, got.Status)
			}
		}
		time.Sleep(time.Second)
		if n := w.vendor.Stats(); n.Calls != 10 || n.Completed != 10 {
			t.Errorf("the vendor saw %+v", n)
		}
		w.depth(chat.Batch, 0)
		if n := w.pending("LANE_BATCH"); n != 0 {
			t.Errorf("the lane thinks that %d are held", n)
		}
	})
}

// Aborts at any moment of a ticket's life leave nothing at the vendor and nothing in
// the line (litellm#27955, #30020; bifrost#6802).
func TestAbortsAtAnyMomentLeaveNothing(t *testing.T) {
	const aborts = 300
	behaviour := sim.Behaviour{FirstToken: sim.Fixed(200 * time.Millisecond), Call: sim.Fixed(time.Second)}
	inBubble(t, setup{Limit: 4, Behaviour: behaviour}, func(t *testing.T, w *world) {
		w.ready()
		random := rand.New(rand.NewPCG(1, 2))
		lanes := []chat.Lane{chat.High, chat.Normal, chat.Low}
		for i := range aborts {
			asked := w.ask("hello", lanes[i%3], time.Minute)
			other := w.ask("stays", chat.Low, time.Minute)
			time.Sleep(time.Duration(random.IntN(1100)) * time.Millisecond)
			if got := w.read(asked.ID); !got.Status.Ended() {
				w.cancel(asked.ID)
			}
			if i%20 == 0 {
				w.until(other.ID, time.Minute)
			}
		}
		time.Sleep(2 * time.Minute)
		if n := w.vendor.Stats(); n.InFlight != 0 || n.MaxInFlight > 4 || n.Cancelled == 0 || n.Completed < aborts {
			t.Errorf("the vendor saw %+v", n)
		}
		if w.inUse() != 0 || w.held() != 0 || w.life.control.Waiting() != 0 {
			t.Errorf("%d permits, %d jobs, %d waiters at rest", w.inUse(), w.held(), w.life.control.Waiting())
		}
		for lane, stream := range map[chat.Lane]string{chat.High: "LANE_HIGH", chat.Normal: "LANE_NORMAL", chat.Low: "LANE_LOW"} {
			w.depth(lane, 0)
			if n := w.pending(stream); n != 0 {
				t.Errorf("%s thinks that %d are held", stream, n)
			}
		}
	})
}
