package control

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/queue/queuetest"
)

func TestNothingIsGrantedBeforeSettleAndAllAfterIt(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		q, closeQueue := openQueue(t)
		c := newController(t, q, 3)
		var asks []<-chan result
		for n := range 5 {
			asks = append(asks, ask(t.Context(), c, asker(n)))
		}
		time.Sleep(time.Minute) // nobody runs it: asks wait
		began := time.Now()
		stop := start(t, c)
		time.Sleep(250*time.Millisecond - 1)
		synctest.Wait()
		if got := inUse(c); got != 0 || c.Waiting() != 5 {
			t.Errorf("%d granted, %d wait before the controller has settled", got, c.Waiting())
		}
		<-c.Ready()
		if at := time.Since(began); at != 250*time.Millisecond {
			t.Errorf("ready after %s", at)
		}
		granted := 0
		synctest.Wait()
		for _, a := range asks {
			select {
			case r := <-a:
				if r.err != nil || r.at.Sub(began) != 250*time.Millisecond || r.permit.Epoch == 0 {
					t.Errorf("got %+v, want a permit as the controller settles", r)
				}
				granted++
			default:
			}
		}
		if granted != 3 || c.Waiting() != 2 {
			t.Errorf("%d granted and %d wait, want 3 and 2", granted, c.Waiting())
		}
		stop()
		closeQueue()
	})
}

func TestAStopBeforeSettleGrantsNothing(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		q, closeQueue := openQueue(t)
		c := newController(t, q, 3)
		waits := ask(t.Context(), c, asker(1))
		stop := start(t, c)
		time.Sleep(100 * time.Millisecond)
		stop()
		if r := <-waits; !errors.Is(r.err, ErrClosed) {
			t.Errorf("err = %v, want ErrClosed", r.err)
		}
		select {
		case <-c.Ready():
			t.Error("a controller that never granted says that it is ready")
		default:
		}
		closeQueue()
	})
}

func TestACloseTurnsEveryoneAwayAndStillTakesPermitsBack(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		q, closeQueue := openQueue(t)
		c := newController(t, q, 1)
		stop := start(t, c)
		held := mustAsk(t, c, asker(0))
		var asks []<-chan result
		for n := range 3 {
			asks = append(asks, ask(t.Context(), c, asker(n+1)))
		}
		synctest.Wait()
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		for _, a := range asks {
			if r := <-a; !errors.Is(r.err, ErrClosed) {
				t.Errorf("err = %v, want ErrClosed", r.err)
			}
		}
		if _, err := c.Ask(t.Context(), asker(9)); !errors.Is(err, ErrClosed) {
			t.Errorf("an ask after the end: %v, want ErrClosed", err)
		}
		c.Release(held, 0)
		c.EndTurn("demo", "s0", "t0")
		<-stopped
		if inUse(c) != 0 || c.Waiting() != 0 {
			t.Errorf("%d in use, %d wait after the end", inUse(c), c.Waiting())
		}
		closeQueue()
	})
}

func TestEachControllerHasAGreaterEpoch(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		q, closeQueue := openQueue(t)
		last := uint64(0)
		for range 3 {
			c := newController(t, q, 1)
			stop := start(t, c)
			p := mustAsk(t, c, asker(1))
			if p.Epoch <= last {
				t.Errorf("epoch %d after %d", p.Epoch, last)
			}
			last = p.Epoch
			stop()
		}
		closeQueue()
	})
}

func TestAReleaseAfterAWhileFreesThePermitExactlyThen(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *single) {
		p := mustAsk(t, c, asker(1))
		first := ask(t.Context(), c, asker(2))
		synctest.Wait()
		second := ask(t.Context(), c, asker(3))
		synctest.Wait()
		began := time.Now()
		c.Release(p, 250*time.Millisecond)
		c.Release(p, 300*time.Millisecond) // a second release frees nothing of the next holder
		r := <-first
		if got := r.at.Sub(began); r.err != nil || got != 250*time.Millisecond {
			t.Errorf("granted after %s, %v; want 250ms", got, r.err)
		}
		time.Sleep(time.Second)
		c.Release(p, 0)
		synctest.Wait()
		if inUse(c) != 1 || c.Waiting() != 1 {
			t.Errorf("%d in use, %d wait: a permit was given back twice", inUse(c), c.Waiting())
		}
		c.Release(r.permit, 0)
		c.Release((<-second).permit, 0)
		if inUse(c) != 0 {
			t.Errorf("%d in use at rest", inUse(c))
		}
	})
}

func TestAnAskThatEndsLeavesTheLineWithItsCause(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, c *single) {
		held := mustAsk(t, c, asker(1))
		why := errors.New("the customer left")
		ctx, cancel := context.WithCancelCause(t.Context())
		waits := ask(ctx, c, asker(2))
		late, cancelLate := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancelLate()
		times := ask(late, c, asker(3))
		synctest.Wait()
		began := time.Now()
		cancel(why)
		if r := <-waits; !errors.Is(r.err, why) || r.at != began {
			t.Errorf("err = %v after %s, want its cause at once", r.err, r.at.Sub(began))
		}
		if r := <-times; !errors.Is(r.err, context.DeadlineExceeded) || r.at.Sub(began) != 3*time.Second {
			t.Errorf("err = %v after %s, want the time-out", r.err, r.at.Sub(began))
		}
		if _, err := c.Ask(ctx, asker(4)); !errors.Is(err, why) {
			t.Errorf("an ask that had ended: %v, want its cause", err)
		}
		if c.Waiting() != 0 {
			t.Errorf("%d wait", c.Waiting())
		}
		c.Release(held, 0)
	})
}

// The one in front of its session leaves; the one behind it had no turn until then.
func TestTheNextOfASessionIsGrantedWhenTheOneInFrontLeaves(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, c *single) {
		front, behind := asker(1), asker(2)
		behind.Session, behind.Seq = front.Session, 2
		front.Vendors = []string{"none"} // never granted
		ctx, cancel := context.WithCancel(t.Context())
		first := ask(ctx, c, front)
		synctest.Wait()
		second := ask(t.Context(), c, behind)
		synctest.Wait()
		if inUse(c) != 0 {
			t.Fatal("the second of a session was granted before the first")
		}
		cancel()
		<-first
		c.Release((<-second).permit, 0)
	})
}

func TestATurnEndsWithItsTicketOnly(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, c *single) {
		first, second, step := asker(1), asker(2), asker(1)
		second.Session, second.Seq, step.Step = first.Session, 2, true
		p := mustAsk(t, c, first)
		waits := ask(t.Context(), c, second)
		c.Release(p, 0) // the permit, not the turn
		c.Release(mustAsk(t, c, step), 0)
		c.EndTurn("demo", first.Session, second.Ticket)
		synctest.Wait()
		if c.Waiting() != 1 {
			t.Fatal("two tickets of a session ran at once")
		}
		c.EndTurn("demo", first.Session, first.Ticket)
		c.Release((<-waits).permit, 0)
	})
}

func TestConfigNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]Config{
		"controller config: gate config: Vendors is empty":                          {Node: "n"},
		"controller config: gate config: Vendors[a].Limit must be at least 1, is 0": {Node: "n", Gate: permits(map[string]int{"a": 0})},
		"controller config: quota of vendor a must be at least its limit 2, is 1":   {Node: "n", Gate: permits(map[string]int{"a": 2}), Quotas: map[string]int{"a": 1}},
		"controller config: Node is empty":                                          {Gate: permits(map[string]int{"a": 1})},
		"controller config: Settle and Hard must not be negative":                   {Node: "n", Gate: permits(map[string]int{"a": 1}), Settle: -1},
	} {
		if _, err := New(nil, cfg); err == nil || err.Error() != want {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
}
