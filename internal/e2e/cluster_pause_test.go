//go:build cluster

package e2e

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestTheControllerIsPaused for 10 s under load, one of four and with every gate in use, a
// vendor's breaker open among them: another one takes over, and the one that wakes up
// grants nothing by what it remembers.
func TestTheControllerIsPaused(t *testing.T) {
	const n = 600
	c := startCluster(t).useAllGates()
	p := c.start("api", "api", "dispatcher", "dispatcher", "dispatcher", "dispatcher")
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "2s"}})
	c.breakVendor(p[0], "c")
	crowd := newCrowd(t, "paused", n/3, p[0], p[1])
	var all []ticket
	done := make(chan struct{})
	go func() {
		defer close(done)
		all = crowd.ask(n, 50*time.Millisecond)
	}()
	await(t, 30*time.Second, "calls are under way", func() bool { return p[0].stats().InFlight > 30 })
	p[2+c.controllerOf(p[2:])].pause(10 * time.Second)
	<-done
	crowd.mayFail = n / 10 // what had begun at vendor c before its breaker opened, beyond the retries' budget
	crowd.check(all)
	c.within(p[0], quotas())
	var broken stats
	if err := p[0].call(call{url: c.control + "/c/sim/stats"}, &broken); err != nil {
		t.Fatal(err)
	}
	t.Logf("vendor c failed %d calls", broken.Calls)
	if broken.Calls > n/5 {
		t.Errorf("vendor c was called %d times: its breaker did not stay open", broken.Calls)
	}
}

// TestPausedHoldersDoNotPushAVendorPastItsQuota: they have all permits of vendor a, fall
// silent for 20 s in the middle of calls of 40 s, and the vendor goes on with those.
// What is granted meanwhile must fit between limit and quota. Every gate is in use.
func TestPausedHoldersDoNotPushAVendorPastItsQuota(t *testing.T) {
	t.Run("with the controller in the same process", func(t *testing.T) {
		t.Parallel()
		s := newSilence(t, 1)
		s.c.start("dispatcher")
		s.play(nil)
	})
	t.Run("and the controller dies 16 s later", func(t *testing.T) {
		t.Parallel()
		s := newSilence(t, 1)
		others := s.c.start("dispatcher", "dispatcher")
		// Until it has lost the lease (after 2 s), which is too short to lose the calls (after 4 s).
		s.holders[0].signal(t, syscall.SIGSTOP)
		await(t, 10*time.Second, "another process is the controller", func() bool { return s.c.elected(others) >= 0 })
		s.holders[0].signal(t, syscall.SIGCONT)
		poll(2*time.Second, func() bool { return false })
		s.play(func() { others[s.c.controllerOf(others)].kill() })
	})
	t.Run("two of them with half of the permits each", func(t *testing.T) {
		t.Parallel()
		s := newSilence(t, 2)
		s.c.start("dispatcher")
		s.play(nil)
	})
}

// silence is a cluster whose holders of all permits of vendor a are about to fall silent.
type silence struct {
	t       *testing.T
	c       *cluster
	api     *instance
	holders []*instance
	asked   []ticket
}

const (
	silentFor  = 20 * time.Second
	silentHeld = 48 // permits of vendor a
)

func newSilence(t *testing.T, holders int) *silence {
	s := &silence{t: t, c: startCluster(t).useAllGates()}
	roles := []string{"api", "dispatcher", "dispatcher"}[:1+holders]
	p := s.c.start(roles...)
	s.api, s.holders = p[0], p[1:]
	s.api.behave(map[string]any{
		"call": map[string]any{"kind": "fixed", "mean": "40s"}, "first_token": map[string]any{"kind": "fixed", "mean": "4s"},
	})
	s.ask(silentHeld)
	await(t, 20*time.Second, "all permits of a are taken", func() bool { return s.api.stats().InFlight == silentHeld })
	return s
}

func (s *silence) ask(n int) {
	more := make([]ticket, n)
	each(n, 16, func(k int) {
		more[k] = s.api.ask(question{Message: fmt.Sprintf("Where is my parcel %d-%d?", len(s.asked), k)})
	})
	s.asked = append(s.asked, more...)
}

// play pauses the holders; after 16 s meanwhile is done, if there is anything to do.
func (s *silence) play(meanwhile func()) {
	s.t.Helper()
	for _, h := range s.holders {
		h.signal(s.t, syscall.SIGSTOP)
	}
	begun := time.Now()
	s.ask(60) // more than vendors b and c have room for
	limit := silentFor + 20*time.Second
	if meanwhile != nil {
		limit = 15 * time.Second
	}
	var calls, flying int
	granted := poll(limit-time.Since(begun), func() bool {
		calls, flying = s.vendor("a")
		if time.Since(begun) > silentFor {
			for _, h := range s.holders {
				h.signal(s.t, syscall.SIGCONT)
			}
		}
		return calls > silentHeld
	})
	if !granted {
		s.t.Error("no permit of a was granted again")
	}
	s.t.Logf("the first permit of a was granted again %s after the silence began, with %d calls in flight",
		time.Since(begun).Round(time.Millisecond), flying)
	if flying-(calls-silentHeld) < 40 {
		s.t.Errorf("the vendor counted %d calls when %d were granted again: too few for this to prove anything", flying, calls-silentHeld)
	}
	if meanwhile != nil {
		poll(16*time.Second-time.Since(begun), func() bool { return false })
		meanwhile()
	}
	poll(silentFor-time.Since(begun), func() bool { return false })
	for _, h := range s.holders {
		h.signal(s.t, syscall.SIGCONT)
	}
	s.api.behave(map[string]any{
		"call": map[string]any{"kind": "fixed", "mean": "500ms"}, "first_token": map[string]any{"kind": "fixed", "mean": "100ms"},
	})
	each(len(s.asked), len(s.asked), func(k int) {
		got := s.api.end(s.asked[k].TicketID, 2*time.Minute)
		if got.Status != "answered" || got.Route != "agent" {
			s.t.Errorf("%+v, want an answer of the agent", got)
		}
		s.api.checkTold(got.SessionID, got)
	})
	s.c.within(s.api, quotas())
}

// vendor returns the calls that a vendor has seen, and those in flight.
func (s *silence) vendor(name string) (calls, flying int) {
	s.t.Helper()
	var one stats
	if err := s.api.call(call{url: s.c.control + "/" + name + "/sim/stats"}, &one); err != nil {
		s.t.Error(err)
	}
	return one.Calls, one.InFlight
}
