package dispatcher

import (
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/sim"
)

func TestACustomerSeesThatAnAnswerIsInTheMaking(t *testing.T) {
	behaviour := sim.Behaviour{FirstToken: sim.Fixed(7 * time.Second), Call: sim.Fixed(8 * time.Second)}
	inBubble(t, setup{Limit: 4, Behaviour: behaviour}, func(t *testing.T, w *world) {
		w.ready()
		var mu sync.Mutex
		signs := map[string][]chat.Typing{}
		at := map[string][]time.Time{}
		stop, err := w.queue.Typings(func(_, _ string, sign chat.Typing) {
			mu.Lock()
			defer mu.Unlock()
			signs[sign.Ticket] = append(signs[sign.Ticket], sign)
			at[sign.Ticket] = append(at[sign.Ticket], time.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		asked, batch := w.ask("hello", chat.Normal, time.Minute), w.ask("hello too", chat.Batch, time.Minute)
		w.until(asked.ID, time.Minute)
		w.until(batch.ID, time.Minute)
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		var lives []int64
		for i, sign := range signs[asked.ID] {
			lives = append(lives, sign.TTLMS)
			if sign.Who != chat.ByBot || i > 0 && at[asked.ID][i].Sub(at[asked.ID][i-1]) > 3*time.Second {
				t.Errorf("sign %d is %+v, %s after the one before", i, sign, at[asked.ID][i].Sub(at[asked.ID][max(i-1, 0)]))
			}
		}
		if !slices.Equal(lives, []int64{6000, 6000, 6000, 0}) {
			t.Errorf("signs live for %v ms", lives)
		}
		if len(signs[batch.ID]) > 0 {
			t.Errorf("signs of a batch: %v", signs[batch.ID])
		}
	})
}
