package control

import (
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/chat"
)

func TestStandingComesTrueWithinOneHold(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, c *single) {
		const hold = 2 * time.Second
		teacher := mustAsk(t, c, asker(100))
		time.Sleep(hold)
		c.Release(teacher, 0)
		c.EndTurn("demo", asker(100).Session, asker(100).Ticket)
		for range 100 { // not used: their turn came too early
			c.Release(mustAsk(t, c, asker(100)), 0)
			c.EndTurn("demo", asker(100).Session, asker(100).Ticket)
		}
		if pos, eta := c.Behind(chat.Normal); pos != 1 || eta != 0 {
			t.Errorf("behind nobody: place %d in %s, want the first at once", pos, eta)
		}
		began := time.Now()
		granted := make(chan time.Duration, 10)
		for n := range 10 {
			waits := ask(t.Context(), c, asker(n))
			go func() {
				p := (<-waits).permit
				granted <- time.Since(began)
				c.Release(p, hold)
			}()
			synctest.Wait()
		}
		if pos, eta := c.Behind(chat.Normal); pos != 9 || eta != 9*hold/2 {
			t.Errorf("behind 8: place %d in %s, want 9 in %s", pos, eta, 9*hold/2)
		}
		if pos, eta := c.Behind(chat.High); pos != 1 || eta != hold/2 {
			t.Errorf("high goes before normal: place %d in %s, want 1 in %s", pos, eta, hold/2)
		}
		for n := 2; n < 10; n++ {
			pos, eta, ok := c.Standing(asker(n).Ticket)
			if !ok || pos != n-1 || eta != time.Duration(pos)*hold/2 {
				t.Errorf("ticket %d stands at %d in %s (%v), want %d", n, pos, eta, ok, n-1)
			}
		}
		if _, _, ok := c.Standing(asker(0).Ticket); ok {
			t.Error("a ticket that runs stands in the line")
		}
		for n := range 10 {
			eta := time.Duration(max(0, n-1)) * hold / 2
			if at := <-granted; at < eta-hold || at > eta+hold {
				t.Errorf("number %d was granted after %s, told %s", n, at, eta)
			}
		}
		time.Sleep(hold)
		if _, _, ok := c.Standing("t_nobody"); ok {
			t.Error("an unknown ticket stands in the line")
		}
	})
}
