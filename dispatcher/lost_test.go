package dispatcher

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// watched keeps what holders tell a lane about its jobs, in order.
type watched struct {
	mu     sync.Mutex
	words  []string
	latest time.Time
}

func (w *fleet) watch(stream string) *watched {
	w.t.Helper()
	seen := &watched{}
	_, err := w.nc.Subscribe("$JS.ACK."+stream+".>", func(m *nats.Msg) {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		seen.words, seen.latest = append(seen.words, string(m.Data)), time.Now()
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return seen
}

// settled returns what was told besides signs of life, and when the latest word came.
func (s *watched) settled() (words []string, latest time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	words = slices.DeleteFunc(slices.Clone(s.words), func(word string) bool { return word == "+WPI" })
	return words, s.latest
}

// The controller does not hear of a dispatcher that is in the middle of a call.
func TestAJobWhosePermitIsLostIsAbandonedAndAnsweredOnce(t *testing.T) {
	for name, c := range map[string]struct {
		part func(*line)
		next func(*fleet, *node) *node // brings about who takes the job again
	}{
		"line at a standstill, taken again by itself": {(*line).hold, func(_ *fleet, one *node) *node { one.line.release(); return one }},
		"line cut, taken again by another":            {(*line).cut, func(w *fleet, _ *node) *node { return w.join("two", 0) }},
	} {
		inBubbleApart(t, setup{Limit: 1, Behaviour: lasting(20 * time.Second)}, func(t *testing.T, w *fleet) {
			seen := w.watch("LANE_NORMAL")
			one := w.join("one", 0)
			asked := w.ask("Where is my order?", chat.Normal, time.Minute)
			time.Sleep(5 * time.Second)
			if w.vendor.Stats().InFlight != 1 || w.inUse() != 1 || one.held() != 1 {
				t.Fatalf("%s: %d calls, %d permits, %d held before", name, w.vendor.Stats().InFlight, w.inUse(), one.held())
			}
			c.part(one.line)
			parted := time.Now()
			for w.vendor.Stats().InFlight > 0 && time.Since(parted) < 10*time.Second {
				time.Sleep(10 * time.Millisecond)
			}
			// 4 s after the newest acknowledged report, which left a second or less before.
			if took := time.Since(parted); took < 2800*time.Millisecond || took > 4100*time.Millisecond {
				t.Errorf("%s: the call ended %s after the parting", name, took)
			}
			synctest.Wait()
			if one.held() != 0 {
				t.Errorf("%s: the job is held after its call", name)
			}
			time.Sleep(time.Second)
			next := c.next(w, one)
			time.Sleep(time.Second)
			words, latest := seen.settled()
			if got := w.read(asked.ID); len(words) != 0 || got.Status != chat.Running || next.held() != 0 {
				t.Fatalf("%s: abandoned with %q, %s, %d held", name, words, got.Status, next.held())
			}
			w.depth(chat.Normal, 1)
			got := w.until(asked.ID, time.Minute)
			if again := got.StartedAt.Sub(latest); again < queue.AckWait || again > queue.AckWait+200*time.Millisecond {
				t.Errorf("%s: taken again %s after the last sign of life, want AckWait", name, again)
			}
			if got.Status != chat.Answered || got.Route != chat.RouteAgent || got.Attempts != 2 {
				t.Errorf("%s: %s by %s (%s), attempt %d", name, got.Status, got.Route, got.Reason, got.Attempts)
			}
			time.Sleep(time.Minute)
			w.answeredOnce(asked)
			if words, _ := seen.settled(); !slices.Equal(words, []string{"+ACK"}) {
				t.Errorf("%s: the lane was told %q, want one acknowledgement", name, words)
			}
			if s := w.vendor.Stats(); s.MaxInFlight != 1 || s.Cancelled != 1 || len(w.vendor.Prompts()) != 2 {
				t.Errorf("%s: the vendor saw %d calls, %d at once, %d cut", name, len(w.vendor.Prompts()), s.MaxInFlight, s.Cancelled)
			}
			if w.inUse() != 0 || w.life.control.Waiting() != 0 || one.held() != 0 || next.held() != 0 {
				t.Errorf("%s: %d permits, %d waiters, %d and %d jobs at rest", name, w.inUse(), w.life.control.Waiting(), one.held(), next.held())
			}
			w.depth(chat.Normal, 0)
		})
	}
}

// answeredOnce looks for the one final event of a session of one message.
func (w *fleet) answeredOnce(asked chat.Ticket) {
	w.t.Helper()
	past, err := w.queue.Past(w.t.Context(), asked.Tenant, asked.Session, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	finals := 0
	for _, e := range past.Events {
		if e.Status.Ended() {
			finals++
		}
	}
	if finals != 1 || len(past.Events) != 2 {
		w.t.Errorf("the session has %d events, %d of them final", len(past.Events), finals)
	}
}
