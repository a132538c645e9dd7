package control

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
)

// An operator's word may come before anybody grants: it is said until somebody does, and
// not without end.
func TestAnOperatorsWordWaitsForAControllerAndNotForEver(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		one := c.start("one", holderOnly)
		begun := time.Now()
		if err := one.member.Steer(t.Context(), "a", true); !errors.Is(err, queue.ErrAbsent) || time.Since(begun) != steerLimit {
			t.Errorf("without a controller: %v after %s", err, time.Since(begun))
		}
		said := make(chan error, 1)
		go func() { said <- one.member.Steer(t.Context(), "a", true) }()
		time.Sleep(time.Second)
		c.start("ruler", candidateOnly)
		if err := <-said; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if states, err := one.member.VendorStates(); err != nil || !states["a"].Shut {
			t.Errorf("%v, %+v: the breaker is not open", err, states["a"])
		}
		if err := one.member.Steer(t.Context(), "nobody", true); !errors.Is(err, ErrUnknown) {
			t.Errorf("a vendor that is not there: %v", err)
		}
		synctest.Wait()
	})
}

// What an operator has said, and until when a vendor asked to be left alone, is known to
// processes that were not there: all others may have been killed.
func TestWhatLastsOutlivesEveryProcess(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		one := c.start("one", bothRoles)
		p, err := one.member.Ask(t.Context(), asker(1))
		if err != nil {
			t.Fatal(err)
		}
		one.member.End(p, gate.End{Outcome: gate.Throttled, RetryAfter: 2 * time.Minute})
		one.member.Release(p, 0)
		said := time.Now()
		if err := one.member.Steer(t.Context(), "a", true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lastingEvery + 100*time.Millisecond)
		one.kill()
		time.Sleep(30 * time.Second)
		two := c.start("two", bothRoles)
		time.Sleep(10 * time.Second)
		states, err := two.member.VendorStates()
		a := states["a"]
		if err != nil || !a.Shut || a.Throttle.Below == 0 {
			t.Errorf("%v, %+v: want it shut and below its limit", err, a)
		}
		if left := a.Throttle.PauseFor - time.Until(said.Add(2*time.Minute)); left.Abs() > time.Second {
			t.Errorf("paused for %s more, want until 2m after the 429", a.Throttle.PauseFor)
		}
		if err := two.member.Steer(t.Context(), "a", false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if states, err = two.member.VendorStates(); err != nil || states["a"].Shut || states["a"].Throttle.PauseFor != 0 {
			t.Errorf("%v, %+v: the operator's word does not end both", err, states["a"])
		}
	})
}
