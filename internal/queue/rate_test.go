package queue

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestAnAnswerIsRatedOnce(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		asked := w.accept(message("s", "hello"))
		rate := func(session, ticket string, r chat.Rating) (uint64, error) {
			return w.Rate(t.Context(), "demo", session, ticket, r, time.Now())
		}
		if _, err := rate("s", asked.ID, chat.Rating{Score: 5}); !errors.Is(err, ErrNotAnswered) {
			t.Errorf("an open ticket: %v, want ErrNotAnswered", err)
		}
		w.finish(chat.Normal, "yes")
		for session, ticket := range map[string]string{"s": chat.NewTicketID(), "other": asked.ID} {
			if _, err := rate(session, ticket, chat.Rating{Score: 5}); !errors.Is(err, ErrNotFound) {
				t.Errorf("ticket %s in session %s: %v, want ErrNotFound", ticket, session, err)
			}
		}
		w.stop(RateEvent)
		if _, err := rate("s", asked.ID, chat.Rating{Score: 5}); !errors.Is(err, errStopped) {
			t.Errorf("a write that is refused: %v", err)
		}
		w.stop("")
		w.wantSeqs("s", 0, 1, 2)

		// Twenty at once, of two minds: one is kept, and its repeats are it.
		var mu sync.Mutex
		var kept []int
		var taps sync.WaitGroup
		for i := range 20 {
			taps.Go(func() {
				score := 1 + i%2
				seq, err := rate("s", asked.ID, chat.Rating{Score: score, Comment: "so so"})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && seq == 3:
					kept = append(kept, score)
				case !errors.Is(err, ErrRated):
					t.Errorf("score %d: seq %d, %v", score, seq, err)
				}
			})
		}
		taps.Wait()
		if len(kept) != 10 || len(slices.Compact(kept)) != 1 {
			t.Errorf("ratings that were taken: %v, want ten of one mind", kept)
		}
		events, _, _, err := w.Events(t.Context(), "demo", "s", 2, 10)
		if err != nil || len(events) != 1 || events[0].Kind != chat.KindRating || events[0].Ticket != asked.ID ||
			*events[0].Rating != (chat.Rating{Score: kept[0], Comment: "so so"}) {
			t.Errorf("events after the answer: %+v, %v", events, err)
		}
		// A rating is no message: the next question finds nothing open, and follows it.
		w.accept(message("s", "another"))
		w.wantSeqs("s", 2, 3, 4)
	})
}
