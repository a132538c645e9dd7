package dispatcher

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
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
		if got := w.until(lost.ID, sweepEvery+repairEvery); got.Route != chat.RouteAgent {
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
