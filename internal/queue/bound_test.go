package queue

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

func (w *world) resize(bound int, keep time.Duration) {
	w.t.Helper()
	bounds := maps.Clone(w.cfg.Bounds)
	bounds[chat.Normal] = bound
	if err := w.Resize(w.t.Context(), bounds, keep); err != nil {
		w.t.Fatal(err)
	}
}

// However many leave meanwhile, nothing comes in before the lane holds less than it may:
// one that followed the depth would give each place that becomes free away again.
func TestABoundBelowTheDepthDeletesNothingAndTakesNothingIn(t *testing.T) {
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
		w.resize(5, week)
		full(false)
		full(false)
		w.resize(2, week)
		w.depth(chat.Normal, 5)
		for range 3 {
			full(true)
			w.finish(chat.Normal, "gone")
		}
		w.depth(chat.Normal, 2)
		full(true)
		w.finish(chat.Normal, "gone")
		full(false)
		full(true)
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
