package dispatcher

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// heard is a log that many write, and the answers that were counted.
type heard struct {
	mu      sync.Mutex // guards the rest
	lines   []string
	counted []string // tickets
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, string(p))
	return len(p), nil
}

func (h *heard) answered(t *chat.Ticket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counted = append(h.counted, t.ID)
}

// told returns how often a ticket was counted, and how the log says that it ended.
func (h *heard) told(id string) (counted int, ends []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.counted {
		if c == id {
			counted++
		}
	}
	for _, line := range h.lines {
		for _, what := range []string{"answered", "ended without an answer"} {
			if strings.Contains(line, id) && strings.Contains(line, `"message":"`+what+`"`) {
				ends = append(ends, what)
			}
		}
	}
	return counted, ends
}

// TestWhatIsCountedWasWritten has a person take the session over before, between and after
// the writes of an end, and ends of which a write fails.
func TestWhatIsCountedWasWritten(t *testing.T) {
	h := &heard{}
	set := setup{
		Limit: 1, HandsOff: func(t *chat.Ticket) bool { return t.Message == "a person, please" }, Answered: h.answered, Log: zerolog.New(h),
	}
	inBubble(t, set, func(t *testing.T, w *world) {
		w.ready()
		for name, c := range map[string]struct {
			at     queue.Point
			fails  bool // there; else a person takes over
			status chat.Status
		}{
			"before it is written":    {queue.EndTicket, false, chat.Cancelled},
			"before it is told":       {queue.EndEvent, false, chat.Cancelled},
			"after it is told":        {queue.EndStory, false, chat.Answered},
			"the write fails":         {queue.EndTicket, true, chat.Answered},
			"the final event is late": {queue.EndEvent, true, chat.Answered},
			"what follows fails":      {queue.EndStory, true, chat.Answered},
		} {
			session := strings.ReplaceAll(name, " ", "-")
			handed := w.accept(ticket(session, "a person, please", chat.Normal, 5*time.Second))
			w.until(handed.ID, time.Second)
			time.Sleep(time.Second)
			if c.fails {
				w.breakAt(c.at)
			} else {
				w.do(c.at, func() {
					if _, err := w.queue.TakeOver(t.Context(), handed.ID, "ann", time.Now()); err != nil {
						t.Errorf("%s: take: %v", name, err)
					}
				})
			}
			asked := w.accept(ticket(session, "where is it?", chat.Normal, 5*time.Second))
			time.Sleep(15 * time.Second)
			s, err := w.queue.Ticket(t.Context(), asked.ID)
			if err != nil || s.Status != c.status {
				t.Errorf("%s: %s (%v), want %s", name, s.Status, err, c.status)
			}
			counted, ends := h.told(asked.ID)
			want, said := 1, "answered"
			if c.status != chat.Answered {
				want, said = 0, "ended without an answer"
			}
			if counted != want || len(ends) != 1 || ends[0] != said {
				t.Errorf("%s: counted %d times, the log says %q, want %d and %q", name, counted, ends, want, said)
			}
		}
		w.depth(chat.Normal, 0)
	})
}
