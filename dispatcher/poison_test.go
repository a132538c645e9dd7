package dispatcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// lose takes the one job of a lane as a process does that dies of it, and waits until
// the lane gives the job to another.
func (w *world) lose(lane chat.Lane) {
	w.t.Helper()
	for id, j := range w.lane(lane) {
		s, err := w.queue.Admit(w.t.Context(), j)
		if err == nil {
			_, err = w.queue.Take(w.t.Context(), s, time.Now())
		}
		if err != nil {
			w.t.Fatalf("take %s: %v", id, err)
		}
	}
	time.Sleep(queue.AckWait)
}

// buried returns the causes of a dead letter's failures, or nil where there is none.
func (w *world) buried(id string) []string {
	w.t.Helper()
	l, err := w.queue.DeadLetter(w.t.Context(), id)
	if errors.Is(err, queue.ErrNotFound) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	var causes []string
	for _, f := range l.Ticket.Failures {
		causes = append(causes, f.Cause)
	}
	return causes
}

func (w *world) letters(want int) {
	w.t.Helper()
	if n, err := w.queue.DeadCount(w.t.Context()); err != nil || n != want {
		w.t.Errorf("%d dead letters (%v), want %d", n, err, want)
	}
}

func TestAJobThatNoHolderSurvivesIsBuried(t *testing.T) {
	for lost, dead := range map[int]bool{2: false, 3: true} {
		inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second), MaxDeliver: 3}, func(t *testing.T, w *world) {
			asked := w.ask("deadly", chat.Normal, time.Hour)
			for range lost {
				w.lose(chat.Normal)
			}
			w.ready()
			got := w.until(asked.ID, 5*time.Second)
			time.Sleep(50 * time.Millisecond) // what follows the end
			if got.Status != chat.Answered || got.Attempts != 3 || got.Dead != dead {
				t.Errorf("lost %d times: %s, attempts %d, dead %v", lost, got.Status, got.Attempts, got.Dead)
			}
			causes, calls := w.buried(asked.ID), len(w.vendor.Prompts())
			if !dead {
				if got.Route != chat.RouteAgent || calls != 1 || causes != nil || len(got.Failures) != 2 {
					t.Errorf("lost %d times: %s, %d calls, letter %q, failures %v", lost, got.Route, calls, causes, got.Failures)
				}
			} else if got.Route != chat.RouteTemplate || got.Reason != chat.ReasonError || got.Reply.Text != "Later." || calls != 0 || len(causes) != 3 {
				t.Errorf("lost %d times: %s (%s) %q, %d calls, letter %q", lost, got.Route, got.Reason, got.Reply.Text, calls, causes)
			}
			w.depth(chat.Normal, 0)
			if w.inUse() != 0 || w.held() != 0 {
				t.Errorf("%d permits, %d jobs at rest", w.inUse(), w.held())
			}
		})
	}
}

// However often a job is handed back, it has not failed.
func TestPlannedStopsBuryNothing(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(2 * time.Second), Grace: 10 * time.Millisecond, MaxDeliver: 1}, func(t *testing.T, w *world) {
		asked := w.ask("hello", chat.Normal, time.Hour)
		for range 5 {
			w.ready()
			time.Sleep(time.Second)
			w.life.end()
		}
		w.ready()
		if got := w.until(asked.ID, time.Minute); got.Route != chat.RouteAgent || got.Attempts != 1 || got.Failures != nil {
			t.Errorf("%s (%s), attempts %d, failures %v", got.Route, got.Reason, got.Attempts, got.Failures)
		}
		w.letters(0)
	})
}

// faulty is a worker whose chain fails in the way that the message names.
type faulty struct{ Worker }

const secret = "my secret is 42"

func (f faulty) Answer(_ context.Context, q chat.Question, _ chat.Effort, _ func(string)) (chat.Answer, error) {
	switch what, _, _ := strings.Cut(q.Ticket.Message, ":"); what {
	case "panic", "both":
		panic(q.Ticket.Message)
	case "fault":
		return chat.Answer{}, errors.New("a tool came back without a name")
	case "crowded":
		return chat.Answer{}, fmt.Errorf("ask the model: %w", gate.ErrCrowded)
	}
	return chat.Answer{}, context.DeadlineExceeded
}

func (f faulty) Estimate(*chat.Ticket) int { return 1 }

func (f faulty) Knows(*chat.Ticket) bool { return false }

func (f faulty) Fallback(t *chat.Ticket, reason chat.Reason) chat.Answer {
	if strings.HasPrefix(t.Message, "both") {
		panic(t.Message)
	}
	return chat.Answer{Reply: chat.Reply{Text: "later"}, Route: chat.RouteTemplate, Reason: reason}
}

func TestAFaultOfOursIsBuriedAndALoadOrAVendorsIsNot(t *testing.T) {
	for what, c := range map[string]struct {
		reason chat.Reason
		causes []string
	}{
		"panic":   {chat.ReasonError, []string{"the chain panicked: panic: " + secret}},
		"fault":   {chat.ReasonError, []string{"a tool came back without a name"}},
		"crowded": {chat.ReasonError, nil},
		"vendor":  {chat.ReasonVendorUnavailable, nil},
	} {
		inBubble(t, setup{Limit: 1, Worker: faulty{}}, func(t *testing.T, w *world) {
			w.ready()
			asked := w.ask(what+": "+secret, chat.Normal, time.Minute)
			got := w.until(asked.ID, 5*time.Second)
			time.Sleep(50 * time.Millisecond) // what follows the end
			if got.Status != chat.Answered || got.Reason != c.reason || got.Reply.Text != "later" || got.Attempts != 1 || got.Dead != (c.causes != nil) {
				t.Errorf("%s: %+v", what, got)
			}
			if causes := w.buried(asked.ID); fmt.Sprint(causes) != fmt.Sprint(c.causes) {
				t.Errorf("%s: buried with %q, want %q", what, causes, c.causes)
			}
			w.depth(chat.Normal, 0)
		})
	}
}

// A message on which even the template panics must not end one process after the other.
func TestWhereTheTemplatePanicsTheTicketFails(t *testing.T) {
	inBubble(t, setup{Limit: 1, Worker: faulty{}}, func(t *testing.T, w *world) {
		w.ready()
		asked := w.ask("both", chat.Normal, time.Minute)
		got := w.until(asked.ID, 5*time.Second)
		time.Sleep(50 * time.Millisecond) // what follows the end
		if got.Status != chat.Failed || got.Reason != chat.ReasonError || got.Reply != nil || !got.Dead {
			t.Errorf("%+v", got)
		}
		if causes := w.buried(asked.ID); fmt.Sprint(causes) != "[the chain panicked: both the template panicked: both]" {
			t.Errorf("buried with %q", causes)
		}
		past, err := w.queue.Past(t.Context(), "demo", asked.Session, 9)
		if err != nil || len(past.Events) != 2 || past.Events[1].Status != chat.Failed {
			t.Errorf("events %+v, %v", past.Events, err)
		}
		w.depth(chat.Normal, 0)
	})
}

func TestAPanicIsLoggedWithoutWhatTheCustomerWrote(t *testing.T) {
	var log bytes.Buffer
	set := setup{Limit: 1, Worker: faulty{}, Log: zerolog.New(zerolog.SyncWriter(&log))}
	inBubble(t, set, func(t *testing.T, w *world) {
		w.ready()
		w.until(w.ask("panic: "+secret, chat.Normal, time.Minute).ID, 5*time.Second)
		w.until(w.ask("both: "+secret, chat.Normal, time.Minute).ID, 5*time.Second)
		w.life.end()
	})
	if text := log.String(); strings.Contains(text, secret) || !strings.Contains(text, "the template panicked") {
		t.Errorf("log:\n%s", text)
	}
}

func TestACancelledJobIsNotBuried(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: sim.Behaviour{}, MaxDeliver: 1}, func(t *testing.T, w *world) {
		asked := w.ask("deadly", chat.Normal, time.Hour)
		w.lose(chat.Normal)
		if _, err := w.queue.Cancel(t.Context(), asked.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.ready()
		time.Sleep(time.Minute)
		if got := w.read(asked.ID); got.Status != chat.Cancelled || got.Dead {
			t.Errorf("%+v", got)
		}
		w.letters(0)
		w.depth(chat.Normal, 0)
	})
}
