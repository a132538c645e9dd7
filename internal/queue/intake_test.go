package queue

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/chat"
)

func TestALaneTellsHowManyHaveLeftIt(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 3 }, func(t *testing.T, w *world) {
		want := func(when string, load LaneLoad) {
			t.Helper()
			if got, err := w.LaneLoad(t.Context(), chat.Normal); err != nil || got != load {
				t.Errorf("%s: %+v (%v), want %+v", when, got, err, load)
			}
		}
		want("at first", LaneLoad{Bound: 3})
		first := w.accept(message("s1", "one"))
		w.accept(message("s2", "two"))
		w.accept(message("s3", "three"))
		want("full", LaneLoad{Depth: 3, Bound: 3})
		if _, _, err := w.Accept(t.Context(), message("s4", "four"), Claim{}); !errors.Is(err, ErrFull) {
			t.Fatalf("a full lane: %v", err)
		}
		want("after a refusal", LaneLoad{Depth: 3, Bound: 3})
		if _, err := w.Cancel(t.Context(), first.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		want("after a cancel", LaneLoad{Depth: 2, Bound: 3, Gone: 1})
		w.finish(chat.Normal, "yes")
		w.accept(message("s4", "four"))
		want("after an answer and another", LaneLoad{Depth: 2, Bound: 3, Gone: 2})
	})
}

func TestTheDayIsKept(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		kept := func(want string) {
			t.Helper()
			if got, err := w.IntakeDay(t.Context()); err != nil || string(got) != want {
				t.Errorf("kept %q (%v), want %q", got, err, want)
			}
		}
		kept("")
		for _, body := range []string{"one", "two"} {
			if err := w.SetIntakeDay(t.Context(), []byte(body)); err != nil {
				t.Fatal(err)
			}
			kept(body)
		}
	})
}

func TestTheIntakeAnswersWhoeverAsks(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if _, err := w.AskIntake(t.Context(), []byte("x")); !errors.Is(err, ErrAbsent) {
			t.Errorf("nobody is there: %v, want ErrAbsent", err)
		}
		var told []string
		stop, err := w.Intake(func(body []byte) []byte {
			told = append(told, string(body))
			return append([]byte("re "), body...)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.AskIntake(t.Context(), []byte("asked")); err != nil || string(got) != "re asked" {
			t.Errorf("got %q, %v", got, err)
		}
		if err := w.SendIntake([]byte("told")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(told) != 2 || told[1] != "told" {
			t.Errorf("it heard %v, want what was asked and what was told", told)
		}
		stop()
	})
}
