package dispatcher

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

func TestRestBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held, depth, live int
		want              time.Duration
	}{
		"nothing":                    {0, 0, 2, 0},
		"few, whatever the depth":    {32, 0, 9, 0},
		"the share and the spare":    {232, 400, 2, 0},
		"one more":                   {233, 400, 2, shareRest},
		"a third of them":            {165, 400, 3, 0},
		"more than a third":          {166, 400, 3, shareRest},
		"all of them, alone":         {400, 400, 1, 0},
		"all of them, not alone":     {400, 400, 2, shareRest},
		"nobody knows who is there":  {400, 400, 0, 0},
		"more than the lane has now": {100, 20, 2, shareRest},
	} {
		if got := restBefore(c.held, c.depth, c.live); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// crowd accepts n messages of as many sessions, one by one or all at once.
func (w *fleet) crowd(n int, atOnce bool) {
	w.t.Helper()
	var accepting sync.WaitGroup
	for range n {
		asked := ticket(chat.NewSessionID(), "Where is my order?", chat.Normal, time.Hour)
		if atOnce {
			accepting.Go(func() {
				if _, _, err := w.queue.Accept(context.Background(), asked, queue.Claim{}); err != nil {
					w.t.Errorf("accept: %v", err)
				}
			})
			continue
		}
		w.accept(asked)
	}
	accepting.Wait()
}

// occupy takes the only permit until free.
func (w *fleet) occupy(n *node) (free func()) {
	w.t.Helper()
	p, err := n.member.Ask(w.t.Context(), gate.Ask{Ticket: "occupant", Lane: chat.Batch, AcceptedAt: time.Now(), Vendors: []string{"a"}})
	if err != nil {
		w.t.Fatal(err)
	}
	return func() { n.member.Release(p, 0) }
}

// Without a rest the nearer one takes 384 of 400 that come at once.
func TestTwoDispatchersShareALane(t *testing.T) {
	const jobs, most = 400, 400/2 + shareSpare + queue.PullSize
	for name, c := range map[string]struct {
		distance time.Duration
		atOnce   bool
	}{
		"one by one":                 {0, false},
		"at once":                    {0, true},
		"one by one, one is farther": {100 * time.Microsecond, false},
		"at once, one is farther":    {100 * time.Microsecond, true},
	} {
		inBubbleApart(t, setup{Limit: 1, Behaviour: hanging}, func(t *testing.T, w *fleet) {
			one, two := w.join("one", 0), w.join("two", c.distance)
			defer w.occupy(one)()
			time.Sleep(2 * time.Second) // both are known
			w.crowd(jobs, c.atOnce)
			time.Sleep(time.Second)
			synctest.Wait()
			t.Logf("%s: %d and %d", name, one.held(), two.held())
			if one.held()+two.held() != jobs || one.held() > most || two.held() > most {
				t.Errorf("%s: one holds %d, the other %d; want at most %d and all %d", name, one.held(), two.held(), most, jobs)
			}
			two.stop()
			// A job that is handed back may still be given to the pull that ends at the same
			// moment, and then comes after AckWait.
			time.Sleep(queue.AckWait + time.Second)
			if one.held() != jobs || w.life.control.Waiting() != jobs {
				t.Errorf("%s: the one that is left holds %d, %d wait; want all", name, one.held(), w.life.control.Waiting())
			}
			w.depth(chat.Normal, jobs)
		})
	}
}

// One that rests lets others come first. If none comes it takes all.
func TestARestIsNoStop(t *testing.T) {
	const jobs = 400
	inBubbleApart(t, setup{Limit: 1, Behaviour: hanging}, func(t *testing.T, w *fleet) {
		one, two := w.join("one", 0), w.join("two", 0)
		defer w.occupy(one)()
		time.Sleep(2 * time.Second) // both are known
		two.line.cut()
		w.crowd(jobs, true)
		time.Sleep(time.Second)
		if one.held() != jobs || one.member.Live() != 2 {
			t.Errorf("%d held with %d thought live, want all %d with 2", one.held(), one.member.Live(), jobs)
		}
	})
}
