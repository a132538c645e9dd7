package dispatcher

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// api sends a raw request to the JetStream API.
func (w *world) api(subject string, seq uint64) {
	w.t.Helper()
	got, err := w.nc.RequestWithContext(w.t.Context(), "$JS.API."+subject, fmt.Appendf(nil, `{"seq":%d}`, seq))
	if err != nil || strings.Contains(string(got.Data), `"error"`) {
		w.t.Fatalf("%s: %v, %s", subject, err, got.Data)
	}
}

func TestRepairAtStartRestoresALostJob(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		lost := w.ask("lost", chat.Normal, time.Hour)
		w.api("STREAM.MSG.DELETE.LANE_NORMAL", lost.LaneSeq)
		time.Sleep(20 * time.Second)
		w.ready()
		if got := w.until(lost.ID, 5*time.Second); got.Route != chat.RouteAgent {
			t.Errorf("%s (%s)", got.Route, got.Reason)
		}
	})
}

func TestRepairRestoresALostJobWhileItRuns(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		lost := w.ask("lost", chat.Normal, time.Hour)
		w.api("STREAM.MSG.DELETE.LANE_NORMAL", lost.LaneSeq)
		w.ready() // too young to be taken for lost
		if got := w.until(lost.ID, 2*repairEvery); got.Route != chat.RouteAgent {
			t.Errorf("%s (%s)", got.Route, got.Reason)
		}
	})
}

func TestRepairMovesAStrayWithinAMinute(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		stray := w.ask("stranded", chat.Normal, time.Hour)
		other := w.ask("delivered", chat.Normal, time.Hour)
		w.api("CONSUMER.RESET.LANE_NORMAL.dispatch", other.LaneSeq)
		w.ready()
		if got := w.until(other.ID, 5*time.Second); got.Route != chat.RouteAgent {
			t.Errorf("the other: %s (%s)", got.Route, got.Reason)
		}
		if got := w.until(stray.ID, repairEvery+5*time.Second); got.Route != chat.RouteAgent || got.Attempts != 1 {
			t.Errorf("the stray: %s (%s)", got.Route, got.Reason)
		}
		time.Sleep(50 * time.Millisecond) // what follows the end
		w.depth(chat.Normal, 0)
	})
}

// What a consumer passes over is delivered to nobody, and lies among and behind what is
// in hand. The lane is full, so nothing else can come in until it is mended.
func TestRepairMovesWhatWasPassedOverInAFullLane(t *testing.T) {
	inBubble(t, setup{Limit: 4, Behaviour: lasting(time.Second), Bound: 12}, func(t *testing.T, w *world) {
		var all []chat.Ticket
		for i := range 12 {
			asked := w.accept(ticket([]string{"a", "b"}[i%2]+fmt.Sprint(i), "hello", chat.Normal, time.Hour))
			all = append(all, asked)
		}
		var subjects []string
		for i := 0; i < 12; i += 2 {
			subjects = append(subjects, fmt.Sprintf("chat.normal.demo.a%d.>", i))
		}
		w.consumer(subjects...)
		if mine, err := w.queue.Duty(t.Context(), "repair", repairEvery); !mine || err != nil { // the first one
			t.Fatal(mine, err)
		}
		w.ready()
		time.Sleep(10 * time.Second)
		w.depth(chat.Normal, 6)
		for range 6 {
			all = append(all, w.ask("comes later", chat.Normal, time.Hour))
		}
		w.depth(chat.Normal, 12)
		if _, _, err := w.queue.Accept(t.Context(), ticket("c", "no room", chat.Normal, time.Hour), queue.Claim{}); !errors.Is(err, queue.ErrFull) {
			t.Errorf("the lane took more: %v", err)
		}
		time.Sleep(repairEvery + 15*time.Second)
		for i, asked := range all {
			if got := w.until(asked.ID, repairEvery); got.Route != chat.RouteAgent || got.Attempts != 1 {
				t.Errorf("ticket %d: %s (%s), attempt %d", i, got.Route, got.Reason, got.Attempts)
			}
		}
		time.Sleep(time.Second)
		w.depth(chat.Normal, 0)
		if n := w.vendor.Stats(); n.Calls != len(all) || n.Completed != len(all) {
			t.Errorf("the vendor saw %+v, want %d calls", n, len(all))
		}
		if n := w.pending("LANE_NORMAL"); n != 0 || w.held() != 0 {
			t.Errorf("%d pending, %d held at rest", n, w.held())
		}
	})
}

// consumer lets the dispatchers' consumer deliver some subjects alone, as an operator
// does who tries something.
func (w *world) consumer(subjects ...string) {
	w.t.Helper()
	js, err := jetstream.New(w.nc)
	if err != nil {
		w.t.Fatal(err)
	}
	cons, err := js.Consumer(w.t.Context(), "LANE_NORMAL", "dispatch")
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := cons.CachedInfo().Config
	cfg.FilterSubjects = subjects
	if _, err := js.UpdateConsumer(w.t.Context(), "LANE_NORMAL", cfg); err != nil {
		w.t.Fatal(err)
	}
}

// Repair keeps its hands off what is as it should be (gateway-api-inference-extension#1982: a
// collector removed a queue with waiters).
func TestRepairLeavesThoseWhoWait(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(20 * time.Second)}, func(t *testing.T, w *world) {
		l := w.ready()
		var all []chat.Ticket
		for i := range 40 {
			all = append(all, w.ask("waits", []chat.Lane{chat.High, chat.Normal, chat.Low, chat.Batch}[i%4], 2*time.Hour))
		}
		time.Sleep(time.Second)
		waiting, pending := l.control.Waiting(), w.pending("LANE_NORMAL")
		for range 12 { // the eleventh also sweeps
			time.Sleep(repairEvery)
			if n := len(w.vendor.Prompts()); l.control.Waiting() < waiting-n-1 || w.pending("LANE_NORMAL") < pending-n-1 {
				t.Fatalf("%d wait of %d after %d calls", l.control.Waiting(), waiting, n)
			}
		}
		for i, asked := range all {
			if got := w.until(asked.ID, time.Hour); got.Route != chat.RouteAgent || got.Attempts != 1 || got.LaneSeq != asked.LaneSeq {
				t.Errorf("ticket %d: %s (%s), attempt %d, moved from %d to %d", i, got.Route, got.Reason, got.Attempts, asked.LaneSeq, got.LaneSeq)
			}
		}
		if n := w.vendor.Stats(); n.Calls != 40 || n.MaxInFlight != 1 {
			t.Errorf("the vendor saw %+v", n)
		}
	})
}
