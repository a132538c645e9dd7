package control

import (
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
)

// in runs a test on a cluster inside a bubble.
func in(t *testing.T, f func(c *cluster)) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		f(c)
		c.close()
	})
}

func (p *peer) granting() bool {
	p.control.mu.Lock()
	defer p.control.mu.Unlock()
	return p.control.server != nil && p.control.server.granting(time.Now())
}

func TestOneCandidateIsElectedAndAllAskIt(t *testing.T) {
	in(t, func(c *cluster) {
		a, b, d := c.start("a", bothRoles), c.start("b", bothRoles), c.start("d", holderOnly)
		time.Sleep(time.Second)
		if a.granting() == b.granting() {
			t.Fatalf("a grants: %v, b grants: %v; want one", a.granting(), b.granting())
		}
		held := append(a.take(1), b.take(1)...)
		held = append(held, d.take(2)...)
		d.none(3 * time.Second)
		a.release(held[:1])
		if _, took := d.within(time.Second); took > 100*time.Millisecond {
			t.Errorf("a permit given back on a reached d after %s", took)
		}
		if s := d.member.State(); s.Node == "" || s.Epoch == 0 {
			t.Errorf("state = %+v, want a controller", s)
		}
	})
}

func TestPlannedStopHandsOverAtOnce(t *testing.T) {
	in(t, func(c *cluster) {
		a := c.start("a", candidateOnly)
		time.Sleep(time.Second)
		b, d := c.start("b", candidateOnly), c.start("d", holderOnly)
		held := d.take(3)
		a.stopControl()
		begun := time.Now()
		for !b.granting() {
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(begun); took > 500*time.Millisecond {
			t.Errorf("takeover took %s", took)
		}
		if v := b.control.Vendors()[0]; v.InUse != 3 {
			t.Errorf("new controller knows of %d permits, want 3", v.InUse)
		}
		d.take(1)
		d.none(3 * time.Second)
		d.release(held)
		d.take(3)
	})
}

func TestKilledControllerIsReplacedWithinThreeSeconds(t *testing.T) {
	in(t, func(c *cluster) {
		a := c.start("a", candidateOnly)
		time.Sleep(time.Second)
		c.start("b", candidateOnly)
		d, e := c.start("d", holderOnly), c.start("e", holderOnly)
		held := append(d.take(2), e.take(1)...)
		a.kill()
		if _, took := d.within(10 * time.Second); took > 3*time.Second {
			t.Errorf("a new controller granted after %s", took)
		}
		e.none(2 * time.Second)
		for _, p := range held {
			if lost(p) {
				t.Error("a call was cut by the loss of the controller")
			}
		}
		d.release(held[:2])
		e.take(2)
	})
}

func TestDeadHolderGivesItsPermitsBackWithinFiveSeconds(t *testing.T) {
	in(t, func(c *cluster) {
		c.start("a", candidateOnly)
		d, e := c.start("d", holderOnly), c.start("e", holderOnly)
		d.take(4)
		d.kill()
		_, took := e.within(10 * time.Second)
		if took < lostAfter || took > 5*time.Second {
			t.Errorf("permits of a dead holder came back after %s, want more than %s and at most 5s", took, lostAfter)
		}
		e.take(3)
		e.none(2 * time.Second)
	})
}

func TestSilentHoldersGiveBackOnlyWhatTheQuotaLeaves(t *testing.T) {
	in(t, func(c *cluster) {
		c.start("a", candidateOnly)
		d, e, f := c.start("d", holderOnly), c.start("e", holderOnly), c.start("f", holderOnly)
		begun := time.Now()
		held := append(d.take(2), e.take(2)...)
		d.line.hold(true)
		e.line.hold(true)
		// Quota 5, limit 4: one comes back, over both together.
		if _, took := f.within(10 * time.Second); took < lostAfter || took > 6*time.Second {
			t.Errorf("the first permit came back after %s", took)
		}
		charge, err := f.queue.Charge(c.t.Context())
		if err != nil || charge["a"] != 1 {
			t.Errorf("charge = %v, %v; want 1 in the bucket", charge, err)
		}
		f.none(10 * time.Second)
		for _, p := range held {
			if !lost(p) {
				t.Error("a holder that nobody hears did not lose its permit")
			}
		}
		// The rest come back when their calls must have ended.
		f.take(3)
		if took := time.Since(begun); took < testHard || took > testHard+3*time.Second {
			t.Errorf("permits of silent holders came back after %s, want %s", took, testHard)
		}
	})
}

func TestHolderThatWasSilentIsCountedAgain(t *testing.T) {
	in(t, func(c *cluster) {
		c.start("a", candidateOnly)
		d, f := c.start("d", holderOnly), c.start("f", holderOnly)
		held := d.take(4)
		d.line.hold(true)
		f.take(1)
		d.line.hold(false)
		time.Sleep(time.Second)
		d.release(held[:1])
		f.none(2 * time.Second) // 3 of d and 1 of f: the limit
		d.release(held[1:2])
		f.take(1)
	})
}

func TestNewControllerChargesASilentHolder(t *testing.T) {
	in(t, func(c *cluster) {
		a := c.start("a", candidateOnly)
		time.Sleep(time.Second)
		c.start("b", candidateOnly)
		d, e := c.start("d", holderOnly), c.start("e", holderOnly)
		held := d.take(2)
		d.line.hold(true)
		a.kill()
		// What d holds is not known: 4 may be, and the quota of 5 leaves one.
		if _, took := e.within(30 * time.Second); took < chargeAfter || took > chargeAfter+4*time.Second {
			t.Errorf("beside a silent holder a permit was granted after %s, want about %s", took, chargeAfter+2*time.Second)
		}
		e.none(3 * time.Second)
		d.line.hold(false)
		time.Sleep(time.Second)
		d.release(held)
		e.take(3)
	})
}

func TestNewControllerReadsTheCharge(t *testing.T) {
	in(t, func(c *cluster) {
		a := c.start("a", candidateOnly)
		time.Sleep(time.Second)
		c.start("b", candidateOnly)
		d, e, f := c.start("d", holderOnly), c.start("e", holderOnly), c.start("f", holderOnly)
		d.take(4)
		d.line.hold(true)
		e.take(1)
		// Five calls may be in flight now. The new controller hears of neither holder.
		e.line.hold(true)
		a.kill()
		f.none(chargeAfter + 5*time.Second)
		e.line.hold(false)
		f.none(3 * time.Second)
	})
}

func TestNewControllerCountsADeadNodeAsHoldingNothing(t *testing.T) {
	in(t, func(c *cluster) {
		a := c.start("a", bothRoles)
		time.Sleep(time.Second)
		c.start("b", candidateOnly)
		e := c.start("e", holderOnly)
		a.take(4)
		a.kill()
		begun := time.Now()
		e.take(4)
		if took := time.Since(begun); took > 8*time.Second {
			t.Errorf("the permits of a dead controller's own node came back after %s", took)
		}
	})
}

func TestWithoutAControllerAsksWaitAndCallsEnd(t *testing.T) {
	in(t, func(c *cluster) {
		a, d := c.start("a", candidateOnly), c.start("d", holderOnly)
		held := d.take(1)
		a.kill()
		begun := time.Now()
		d.none(2 * time.Second)
		if lost(held[0]) {
			t.Error("the call was cut before its time")
		}
		time.Sleep(lostAfter)
		if !lost(held[0]) {
			t.Error("the call goes on although no controller answers")
		}
		if s := d.member.State(); s.Node != "" || s.Since.Before(begun) {
			t.Errorf("state = %+v, want no controller, since %s or later", s, begun)
		}
		d.release(held)
		c.start("b", candidateOnly)
		d.take(4)
	})
}

func TestLapsedControllerKeepsCallsRunning(t *testing.T) {
	in(t, func(c *cluster) {
		a, d := c.start("a", bothRoles), c.start("d", holderOnly)
		held := append(d.take(1), a.take(1)...)
		// Somebody else's write stands where the lease was: it cannot be renewed, and no
		// one is controller.
		kv := c.bucket(a)
		if _, err := kv.PutString(c.t.Context(), "lease", "nobody"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		d.none(time.Second)
		time.Sleep(4 * time.Second)
		for _, p := range held {
			if lost(p) {
				t.Error("a call was cut within the grace of a lapsed controller")
			}
		}
		time.Sleep(7 * time.Second)
		for _, p := range held {
			if !lost(p) {
				t.Error("a call outlived the grace of a lapsed controller")
			}
		}
		if err := kv.Purge(c.t.Context(), "lease"); err != nil {
			t.Fatal(err)
		}
		d.take(2)
		d.none(2 * time.Second)
	})
}

func TestHighGoesFirstWhereverItWaits(t *testing.T) {
	in(t, func(c *cluster) {
		c.start("a", candidateOnly)
		d, e := c.start("d", holderOnly), c.start("e", holderOnly)
		held := d.take(4)
		got := make(chan chat.Lane, 2)
		for _, w := range []struct {
			on   *peer
			lane chat.Lane
		}{{d, chat.Low}, {e, chat.High}} {
			go func() {
				if _, err := w.on.ask("w-"+string(w.lane), w.lane, 20*time.Second); err == nil {
					got <- w.lane
				}
			}()
			time.Sleep(200 * time.Millisecond)
		}
		d.release(held[:1])
		if first := <-got; first != chat.High {
			t.Errorf("%s was served first", first)
		}
		d.release(held[1:2])
		<-got
	})
}

func TestSessionsHaveOneTurnOverAllNodes(t *testing.T) {
	in(t, func(c *cluster) {
		c.start("a", candidateOnly)
		d, e := c.start("d", holderOnly), c.start("e", holderOnly)
		first, err := d.askIn("s", "t1", 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.askIn("s", "t2", 2); err == nil {
			t.Fatal("two tickets of one session run at once")
		}
		d.member.Release(first, 0)
		if _, err := e.askIn("s", "t2", 2); err == nil {
			t.Fatal("the turn went with the permit")
		}
		d.member.EndTurn("t", "s", "t1")
		if _, err := e.askIn("s", "t2", 2); err != nil {
			t.Fatalf("the session's next turn: %v", err)
		}
	})
}

func TestPlacesAreKnownEverywhere(t *testing.T) {
	in(t, func(c *cluster) {
		c.start("a", candidateOnly)
		d, api := c.start("d", holderOnly), c.start("api", role{})
		d.take(4)
		go func() { _, _ = d.ask("waits", chat.Normal, 5*time.Second) }()
		time.Sleep(time.Second)
		if position, eta, ok := api.member.Standing("waits"); position != 1 || eta <= 0 || !ok {
			t.Errorf("standing = %d, %s, %v; want the first place", position, eta, ok)
		}
		if position, _, ok := api.member.Standing("unknown"); ok {
			t.Errorf("an unknown ticket has place %d", position)
		}
		if position, eta := api.member.Behind(chat.Normal); position != 2 || eta <= 0 {
			t.Errorf("behind = %d, %s; want the second place", position, eta)
		}
		time.Sleep(5 * time.Second)
	})
}
