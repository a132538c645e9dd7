//go:build cluster

package e2e

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestAKilledDispatchersJobsAreTakenOver: one of two dispatchers is killed while it works
// on 50 jobs. The other ends them all within 12 s, none twice.
func TestAKilledDispatchersJobsAreTakenOver(t *testing.T) {
	const n = 50
	c := startCluster(t)
	p := c.start("api", "dispatcher")
	api, doomed := p[0], p[1]
	api.behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "1m"}})
	asked := make([]ticket, n)
	each(n, 16, func(k int) {
		asked[k] = api.ask(question{Message: fmt.Sprintf("Where is my parcel %d?", k)})
	})
	await(t, 20*time.Second, "all 50 are under way", func() bool { return api.stats().InFlight == n })
	c.start("dispatcher")
	api.behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "300ms"}})
	doomed.kill()
	killed := time.Now()
	each(n, n, func(k int) { asked[k] = api.end(asked[k].TicketID, 30*time.Second) })
	took := time.Since(killed)
	t.Logf("all %d jobs of the killed dispatcher ended within %s", n, took.Round(time.Millisecond))
	if took > 12*time.Second {
		t.Errorf("the jobs ended within %s, want 12 s", took)
	}
	for _, got := range asked {
		if got.Route != "agent" || got.Attempts != 2 {
			t.Errorf("%+v, want an answer of the agent in the second attempt", got)
		}
		api.checkTold(got.SessionID, got)
	}
	if s := api.stats(); s.Completed != n {
		t.Errorf("the vendors completed %d calls, want %d", s.Completed, n)
	}
	c.within(api, limits())
}

// TestThePermitsOfAKilledDispatcherComeBack within 5 s of its death, to the jobs that wait
// at the other three.
func TestThePermitsOfAKilledDispatcherComeBack(t *testing.T) {
	c := startCluster(t)
	p := c.start("api", "dispatcher", "dispatcher", "dispatcher")
	api := p[0]
	doomed := c.start("dispatcher")[0] // not the controller: one of the first is
	api.behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "1m"}})
	// So many that more wait at the others than permits come back: what waits at the
	// killed one comes to them later.
	each(4*permits, 16, func(k int) {
		api.ask(question{Message: fmt.Sprintf("Where is my parcel %d?", k)})
	})
	await(t, 20*time.Second, "all permits are taken", func() bool { return api.stats().InFlight == permits })
	doomed.kill()
	killed := time.Now()
	var left int
	await(t, 5*time.Second, "the vendors see its calls go", func() bool { left = api.stats().InFlight; return left < permits })
	poll(time.Second, func() bool { return false })
	left = api.stats().InFlight
	await(t, 20*time.Second, "all permits are taken again", func() bool { return api.stats().InFlight == permits })
	took := time.Since(killed)
	t.Logf("%d of %d permits were back in use %s after the kill", permits-left, permits, took.Round(time.Millisecond))
	if took > 5500*time.Millisecond {
		t.Errorf("its permits were back after %s, want 5 s", took)
	}
	c.within(api, limits())
}

// TestTheControllerDiesWithAllPermits in the same process: its lease ends first, then
// its calls are known to be over.
func TestTheControllerDiesWithAllPermits(t *testing.T) {
	c := startCluster(t)
	p := c.start("api", "dispatcher")
	api, doomed := p[0], p[1]
	api.behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "1m"}})
	each(permits, 16, func(k int) {
		api.ask(question{Message: fmt.Sprintf("Where is my parcel %d?", k)})
	})
	await(t, 20*time.Second, "all permits are taken", func() bool { return api.stats().InFlight == permits })
	c.start("dispatcher")
	// Killed with the controller in it: its lease has to run out as well.
	api.behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "300ms"}})
	doomed.kill()
	killed := time.Now()
	got := api.end(api.ask(question{Message: "Where is my letter?"}).TicketID, 30*time.Second)
	if got.StartedAt == nil {
		t.Fatalf("%+v, want an answer of the agent", got)
	}
	t.Logf("the next call began %s after the kill", got.StartedAt.Sub(killed).Round(time.Millisecond))
	if after := got.StartedAt.Sub(killed); after > 8*time.Second {
		t.Errorf("the next call began %s after the kill, want within the 2 s of a lease and the 5 s of a holder", after)
	}
	c.within(api, limits())
}

// TestEachRoleIsReplacedUnderLoad: SIGTERM to one process after the other, each after
// its successor is there. Nobody loses a message or gets two answers.
func TestEachRoleIsReplacedUnderLoad(t *testing.T) {
	const n = 1200
	c := startCluster(t)
	c.useDatabase()
	p := c.start("api", "api", "dispatcher", "dispatcher", "recorder")
	crowd := newCrowd(t, "rolling", n/3, p[0], p[1])
	var all []ticket
	done := make(chan struct{})
	go func() {
		defer close(done)
		all = crowd.ask(n, 35*time.Millisecond)
	}()
	for k, role := range []string{"dispatcher", "api", "recorder", "dispatcher", "api"} {
		old := map[int]int{0: 2, 1: 0, 2: 4, 3: 3, 4: 1}[k]
		next := c.start(role)[0]
		stopping := p[old]
		if p[old] = next; role == "api" {
			crowd.use(p[0], p[1])
		}
		stopping.stop()
	}
	select {
	case <-done:
		t.Error("the load was over before the last process was replaced")
	default:
	}
	<-done
	crowd.check(all)
	c.within(p[0], limits())
	// What the first recorder did not write the second one did.
	_, err := p[0].ticket(unknown)
	refused(t, err, 404, "not_found")
	for _, i := range p {
		i.stop()
	}
}

// TestBrokersDieOneAfterTheOther: the leader of a lane, then that of the controller's
// bucket, each with kill -9 under load. No call under way is cut by it.
func TestBrokersDieOneAfterTheOther(t *testing.T) {
	const n = 1000
	c := startCluster(t)
	p := c.start("api", "api", "dispatcher", "dispatcher")
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "3s"}})
	crowd := newCrowd(t, "brokers", n/3, p[0], p[1])
	var all []ticket
	done := make(chan struct{})
	go func() {
		defer close(done)
		all = crowd.ask(n, 45*time.Millisecond)
	}()
	for _, stream := range []string{"LANE_NORMAL", "KV_control"} {
		await(t, 30*time.Second, "calls are under way", func() bool { return p[0].stats().InFlight > 20 })
		i := c.leader(stream)
		t.Logf("kill -9 of %s, which leads %s", c.configs[i].Name, stream)
		c.killBroker(i, 3*time.Second)
		poll(12*time.Second, func() bool { return false })
	}
	<-done
	crowd.check(all)
	c.within(p[0], limits())
	if s := p[0].stats(); s.Cancelled != 0 || s.Refused != 0 {
		t.Errorf("the vendors saw %+v, want no call cut and none refused", s)
	}
}

// TestTheControllersProcessDies with kill -9 under load, and another one goes on.
func TestTheControllersProcessDies(t *testing.T) {
	const n = 600
	c := startCluster(t)
	p := c.start("api", "api", "dispatcher", "dispatcher", "dispatcher")
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "2s"}})
	crowd := newCrowd(t, "controller", n/3, p[0], p[1])
	var all []ticket
	done := make(chan struct{})
	go func() {
		defer close(done)
		all = crowd.ask(n, 40*time.Millisecond)
	}()
	await(t, 30*time.Second, "calls are under way", func() bool { return p[0].stats().InFlight > 40 })
	k := c.controllerOf(p[2:])
	p[2+k].kill()
	killed := time.Now()
	before := p[0].stats().Calls
	await(t, 20*time.Second, "calls begin again", func() bool { return p[0].stats().Calls > before+20 })
	t.Logf("20 calls have begun %s after the controller's death", time.Since(killed).Round(time.Millisecond))
	<-done
	crowd.check(all)
	c.within(p[0], quotas())
}

// controllerOf returns which of the dispatchers' processes grants.
func (c *cluster) controllerOf(dispatchers []*instance) int {
	c.t.Helper()
	k := c.elected(dispatchers)
	if k < 0 {
		c.t.Fatal("no dispatcher says that it grants")
	}
	return k
}

// elected is controllerOf, or -1 while there is none.
func (c *cluster) elected(dispatchers []*instance) int {
	last, lastAt := -1, time.Time{}
	for k, d := range dispatchers {
		if at, found := d.stderr.when(`"message":"elected controller"`); found && at.After(lastAt) {
			last, lastAt = k, at
		}
	}
	return last
}

// pause stops a process in its tracks for a while.
func (i *instance) pause(d time.Duration) {
	i.t.Helper()
	i.signal(i.t, syscall.SIGSTOP)
	poll(d, func() bool { return false })
	i.signal(i.t, syscall.SIGCONT)
}
