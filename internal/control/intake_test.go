package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
)

// admit gives every node of a cluster the same limits of the intake.
func (c *cluster) admit(in gate.Intake) {
	c.t.Helper()
	for _, p := range c.nodes {
		if p.control != nil {
			cfg := permits(map[string]int{"a": 4})
			cfg.Intake = in
			if err := p.control.SetLimits(cfg, map[string]int{"a": 5}); err != nil {
				c.t.Fatal(err)
			}
		}
		if err := p.member.SetIntake(in); err != nil {
			c.t.Fatal(err)
		}
	}
}

// doors makes nodes known as those that take messages in.
func (c *cluster) doors(nodes ...*peer) (stop func()) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, p := range nodes {
		lanes, err := queue.NewLanes(p.queue, queue.LanesConfig{Node: p.name, Intake: true, Log: zerolog.Nop()})
		if err != nil {
			c.t.Fatal(err)
		}
		running.Go(func() { _ = lanes.Run(ctx) })
		<-lanes.Ready()
	}
	return func() { cancel(); running.Wait() }
}

func arrival(tenant, customer string, bytes int) chat.Arrival {
	return chat.Arrival{Tenant: tenant, Customer: customer, Lane: chat.Normal, Bytes: bytes}
}

// enter reports whether a message comes in now, and when it may if it does not.
func (p *peer) enter(a chat.Arrival) (undo func(), turned *chat.Error) {
	p.t.Helper()
	undo, err := p.member.Enter(context.Background(), a)
	if err != nil && !errors.As(err, &turned) {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	return undo, turned
}

// together lets so many goroutines enter at once, over all nodes, and counts those who
// come in.
func together(n int, a chat.Arrival, nodes ...*peer) (in int) {
	barrier, passed := make(chan struct{}), make(chan bool, n)
	for i := range n {
		go func() {
			<-barrier
			_, turned := nodes[i%len(nodes)].enter(a)
			passed <- turned == nil
		}()
	}
	synctest.Wait()
	close(barrier)
	for range n {
		if <-passed {
			in++
		}
	}
	return in
}

// facts/overload.md rows 6 and 7: litellm#40291, #27736: each node looked into its own
// memory, so the limit held once a node; litellm#18730: of several at once each saw none.
func TestTwoNodesShareOneBurstExactly(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		ruler := c.start("ruler", candidateOnly)
		one, two := c.start("one", role{}), c.start("two", role{})
		c.admit(gate.Intake{Tenant: gate.Allowance{QPS: 50, Burst: 120}})
		time.Sleep(5 * time.Second)
		if got := together(200, arrival("t", "", 3), one, two); got != 120 {
			t.Errorf("%d of 200 at once came in, want the burst of 120", got)
		}
		_, turned := one.enter(arrival("t", "", 3))
		if turned == nil || turned.Code != "rate_limited" || turned.RetryAfter != 20*time.Millisecond || turned.Kind != chat.Overloaded {
			t.Errorf("the next one: %+v, want rate_limited for 20ms", turned)
		}
		if got := together(200, arrival("u", "", 3), ruler, one, two); got != 120 {
			t.Errorf("%d of another tenant came in, want 120", got)
		}
		time.Sleep(time.Second)
		if got := together(200, arrival("t", "", 3), one, two, ruler); got != 50 {
			t.Errorf("%d came in a second later, want 50", got)
		}
	})
}

// entered is one message that came in.
type entered struct {
	at     time.Time
	tokens int
}

// most returns the most that any stretch of a length holds.
func most(all []entered, length time.Duration, of func(entered) int) (sum int) {
	for i := range all {
		here := 0
		for _, e := range all[i:] {
			if e.at.Sub(all[i].at) < length {
				here += of(e)
			}
		}
		sum = max(sum, here)
	}
	return sum
}

func tokens(e entered) int { return e.tokens }

// facts/overload.md row 6 with ε = 0, over minutes.
func TestNoMinuteHoldsMoreTokensThanTheLimit(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		c.start("ruler", candidateOnly)
		nodes := []*peer{c.start("one", role{}), c.start("two", role{})}
		c.admit(gate.Intake{
			Tenants: map[string]gate.Allowance{"t": {QPS: 50, Burst: 100, Tokens: 5000}}, UserTokens: 900,
		})
		time.Sleep(5 * time.Second)
		var all []entered
		of := map[string][]entered{}
		for n := range 1800 { // three minutes
			customer := fmt.Sprint("c", n%7)
			if _, turned := nodes[n%2].enter(arrival("t", customer, 3*(20+n%50))); turned == nil {
				e := entered{time.Now(), 20 + n%50}
				all, of[customer] = append(all, e), append(of[customer], e)
			} else if turned.Code != "quota_exceeded" || turned.RetryAfter <= 0 || turned.RetryAfter > time.Minute+5*time.Second {
				t.Fatalf("turned away with %+v", turned)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if got := most(all, time.Minute, tokens); got > 5000 || got < 4900 {
			t.Errorf("a minute held %d tokens of the tenant, want at most 5000, nearly used up", got)
		}
		for customer, all := range of {
			if got := most(all, time.Minute, tokens); got > 900 {
				t.Errorf("a minute held %d tokens of customer %s, want at most 900", got, customer)
			}
		}
	})
}

// facts/overload.md row 5: litellm#39309: a request that was refused for one limit had
// used up another. Row 29's spirit: with nobody to ask, nodes keep to shares.
func TestWhatWasNotAcceptedIsGivenBack(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		ruler := c.start("ruler", candidateOnly)
		far := c.start("far", role{})
		c.admit(gate.Intake{Tenant: gate.Allowance{QPS: 1, Burst: 2, Daily: 5}, UserTokens: 100})
		time.Sleep(5 * time.Second)
		a := arrival("t", "c", 300) // all of the customer's minute
		for _, p := range []*peer{far, ruler, far} {
			undo, turned := p.enter(a)
			if turned != nil {
				t.Fatalf("%s: %v", p.name, turned)
			}
			if _, turned := p.enter(a); turned == nil || turned.Code != "quota_exceeded" {
				t.Fatalf("%s: a second one came in: %+v", p.name, turned)
			}
			undo()
			synctest.Wait()
		}
		if got := ruler.control.intake.turnstile.Today(time.Now()).Counts["t"]; got != 0 {
			t.Errorf("%d count for the day, want 0", got)
		}
		if got := together(10, arrival("t", "", 300), far, ruler); got != 2 {
			t.Errorf("%d came in, want the whole burst of 2", got)
		}
	})
}

// facts/overload.md row 29: litellm#35528: with the store away nothing was limited.
func TestWithoutAControllerNodesKeepToTheirShares(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		ruler := c.start("ruler", candidateOnly)
		nodes := []*peer{c.start("one", role{}), c.start("two", role{})}
		stop := c.doors(nodes...)
		defer stop()
		c.admit(gate.Intake{Tenant: gate.Allowance{QPS: 50, Burst: 100}})
		time.Sleep(doorsEvery + 5*time.Second)
		var all []entered
		begun := time.Now()
		send := func(d time.Duration) (in int) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				for _, p := range nodes {
					if _, turned := p.enter(arrival("t", "", 3)); turned == nil {
						all, in = append(all, entered{time.Now(), 1}), in+1
					}
				}
			}
			return in
		}
		send(3 * time.Second)
		ruler.kill()
		send(2 * time.Second)
		if got := send(4 * time.Second); got < 190 || got > 200 {
			t.Errorf("%d came in within 4 s without a controller, want some 200: 25 a second at each of two nodes", got)
		}
		if _, turned := nodes[0].enter(chat.Arrival{Tenant: "new", Lane: chat.Low}); turned != nil {
			t.Errorf("a tenant that was quiet is turned away: %v", turned)
		}
		heir := c.start("heir", candidateOnly)
		c.admit(gate.Intake{Tenant: gate.Allowance{QPS: 50, Burst: 100}})
		send(2 * time.Second)
		if got := send(10 * time.Second); got < 495 || got > 505 {
			t.Errorf("%d came in within 10 s of the next controller, want some 500", got)
		}
		for i := range all {
			for j := i; j < len(all); j++ {
				span := all[j].at.Sub(all[i].at)
				if n, allowed := j-i+1, 100+int(span/(20*time.Millisecond)); n > allowed {
					t.Fatalf("%d came in from %s to %s, want at most %d", n, all[i].at.Sub(begun), all[j].at.Sub(begun), allowed)
				}
			}
		}
		if v, served := heir.control.admit(arrival("t", "", 3)); !served || v.Epoch == 0 {
			t.Error("the heir does not decide")
		}
	})
}

func TestTheDayOutlivesItsController(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		in := gate.Intake{Tenants: map[string]gate.Allowance{"t": {Daily: 10}}}
		first := c.start("first", candidateOnly)
		time.Sleep(time.Second)
		far := c.start("far", role{})
		c.admit(in)
		if got := together(6, arrival("t", "", 3), far); got != 6 {
			t.Fatalf("%d came in, want 6", got)
		}
		first.stop() // stores it on its way out
		second := c.start("second", candidateOnly)
		c.admit(in)
		time.Sleep(time.Second)
		if got := together(2, arrival("t", "", 3), far, second); got != 2 {
			t.Errorf("%d came in at the second controller, want 2", got)
		}
		time.Sleep(dayEvery + lanesEvery)
		second.kill() // had stored it by then
		time.Sleep(5 * time.Second)
		third := c.start("third", candidateOnly)
		c.admit(in)
		time.Sleep(time.Second)
		if got := together(20, arrival("t", "", 3), far, third); got != 2 {
			t.Errorf("%d came in at the third controller, want the last 2 of 10", got)
		}
		_, turned := far.enter(arrival("t", "", 3))
		if turned == nil || turned.Code != "quota_exceeded" || turned.RetryAfter < time.Hour {
			t.Errorf("after that: %+v, want quota_exceeded until midnight", turned)
		}
	})
}

// A controller whose lease lapses for a while does not know what the nodes let in
// meanwhile: it does not give the burst away once more.
func TestALapsedControllerGivesNoSecondBurst(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		ruler := c.start("ruler", candidateOnly)
		c.admit(gate.Intake{Tenant: gate.Allowance{QPS: 10, Burst: 100}})
		time.Sleep(11 * time.Second)
		lapse := func(by time.Duration) {
			ruler.control.mu.Lock()
			defer ruler.control.mu.Unlock()
			ruler.control.server.until = time.Now().Add(by)
		}
		lapse(-time.Millisecond)
		if _, served := ruler.control.admit(arrival("t", "", 3)); served {
			t.Fatal("a lapsed controller decides")
		}
		lapse(time.Second)
		if got := together(50, arrival("t", "", 3), ruler); got != 0 {
			t.Errorf("%d came in right after the lapse, want none", got)
		}
		time.Sleep(time.Second)
		if got := together(50, arrival("t", "", 3), ruler); got != 10 {
			t.Errorf("%d came in a second later, want 10", got)
		}
		// Nobody asks a controller that was not heard for long.
		time.Sleep(11 * time.Second)
		ruler.control.intake.mu.Lock()
		ruler.control.intake.greetedAt = time.Now().Add(-stateAge)
		ruler.control.intake.mu.Unlock()
		if got := together(50, arrival("t", "", 3), ruler); got != 0 {
			t.Errorf("%d came in when nodes may have missed it, want none", got)
		}
	})
}
