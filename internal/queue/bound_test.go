package queue

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

func (w *world) resize(bound int, keep time.Duration) bool {
	w.t.Helper()
	bounds := maps.Clone(w.cfg.Bounds)
	bounds[chat.Normal] = bound
	done, err := w.Resize(w.t.Context(), bounds, keep)
	if err != nil {
		w.t.Fatal(err)
	}
	return done
}

func TestABoundRisesAtOnceAndFallsWithTheDepth(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 3 }, func(t *testing.T, w *world) {
		week := 7 * 24 * time.Hour
		full := func(want bool) {
			t.Helper()
			_, _, err := w.Accept(t.Context(), message("s", "one more"), Claim{})
			if errors.Is(err, ErrFull) != want || err != nil && !want {
				t.Fatalf("err = %v, want full: %v", err, want)
			}
		}
		w.fill(chat.Normal, 3)
		full(true)
		if !w.resize(5, week) {
			t.Error("a bound that rises takes time")
		}
		full(false)
		full(false)
		if w.resize(2, week) {
			t.Error("a bound fell below the depth")
		}
		w.depth(chat.Normal, 5) // no job was deleted
		full(true)
		w.finish(chat.Normal, "one gone")
		if w.resize(2, week) {
			t.Error("a bound fell below the depth")
		}
		full(true) // it follows the depth: what has left makes no room
		for range 2 {
			w.finish(chat.Normal, "gone")
		}
		if !w.resize(2, week) {
			t.Error("the bound has not fallen yet")
		}
		w.depth(chat.Normal, 2)
		full(true)
		w.finish(chat.Normal, "gone")
		full(false)
	})
}

func TestTheAgeOfTheLogsFollowsTheRules(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.resize(100, 2*time.Hour)
		for name, stream := range map[string]jetstream.Stream{"talk": w.talk, "story": w.story} {
			if info, err := stream.Info(t.Context()); err != nil || info.Config.MaxAge != 2*time.Hour {
				t.Errorf("%s is kept for %s (%v)", name, info.Config.MaxAge, err)
			}
		}
	})
}
