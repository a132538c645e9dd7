//go:build cluster

package e2e

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// crowdPatience is how long a customer goes on asking.
const crowdPatience = 90 * time.Second

// crowd is customers who know several api nodes. One who gets no answer asks the next
// node, with the same key.
type crowd struct {
	t        *testing.T
	name     string
	sessions int
	lanes    []string
	mayFail  int // so many at most may end by the template, for want of a vendor

	mu   sync.Mutex
	apis []*instance

	accepted atomic.Int64
	ended    atomic.Int64
	retries  atomic.Int64
	slowest  atomic.Int64 // ms that one acceptance took, repeats included
}

func newCrowd(t *testing.T, name string, sessions int, apis ...*instance) *crowd {
	return &crowd{t: t, name: name, sessions: sessions, lanes: []string{"high", "normal", "low"}, apis: apis}
}

// use replaces the nodes that the customers know.
func (c *crowd) use(apis ...*instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apis = apis
}

func (c *crowd) api(k int) *instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.apis[k%len(c.apis)]
}

// ask hands n messages in, one each pace, and follows each to its end. The tickets come
// in the order of the messages.
func (c *crowd) ask(n int, pace time.Duration) []ticket {
	all := make([]ticket, n)
	var wg sync.WaitGroup
	tick := time.NewTicker(max(pace, time.Microsecond))
	defer tick.Stop()
	for k := range n {
		if pace > 0 {
			<-tick.C
		}
		wg.Go(func() {
			got, ok := c.enter(k)
			if !ok {
				c.t.Errorf("message %d of %s was not accepted within %s", k, c.name, crowdPatience)
				return
			}
			all[k] = c.follow(k, got.TicketID)
		})
	}
	wg.Wait()
	return all
}

// enter hands message k in until a node accepts it.
func (c *crowd) enter(k int) (ticket, bool) {
	begun := time.Now()
	q := question{
		Message:   fmt.Sprintf("Where is my parcel %d?", k),
		SessionID: fmt.Sprintf("%s-%d", c.name, k%c.sessions), Lane: c.lanes[k%len(c.lanes)],
	}
	for try := k; time.Since(begun) < crowdPatience; try++ {
		got, err := c.api(try).submit(q, fmt.Sprintf("%s-%d", c.name, k))
		if err == nil {
			c.accepted.Add(1)
			if took := time.Since(begun).Milliseconds(); took > c.slowest.Load() {
				c.slowest.Store(took)
			}
			return got, true
		}
		c.retries.Add(1)
		poll(100*time.Millisecond, func() bool { return false })
	}
	return ticket{}, false
}

// follow waits for the end of a ticket at whichever node answers.
func (c *crowd) follow(k int, id string) ticket {
	begun := time.Now()
	var t ticket
	for try := k; time.Since(begun) < 2*crowdPatience; try++ {
		if err := c.api(try).call(call{url: "/v1/tickets/" + id + "?wait=5s"}, &t); err == nil && t.ended() {
			c.ended.Add(1)
			return t
		}
		poll(50*time.Millisecond, func() bool { return false })
	}
	c.t.Errorf("ticket %s of %s is still %q after %s", id, c.name, t.Status, 2*crowdPatience)
	return t
}

// check asserts that each ticket was answered by the agent and told once, without a gap.
func (c *crowd) check(all []ticket) {
	c.t.Helper()
	bySession := map[string][]ticket{}
	again, failed, waits := 0, 0, []int64{}
	for _, t := range all {
		if t.Route == "template" && t.Reason == "vendor_unavailable" {
			if failed++; failed <= c.mayFail {
				bySession[t.SessionID] = append(bySession[t.SessionID], t)
				continue
			}
		}
		if t.Status != "answered" || t.Route != "agent" {
			c.t.Errorf("ticket %s of %s ended %q by %q (%s)", t.TicketID, c.name, t.Status, t.Route, t.Reason)
			continue
		}
		if t.Attempts > 1 {
			again++
		}
		if t.QueuedMS != nil {
			waits = append(waits, *t.QueuedMS)
		}
		bySession[t.SessionID] = append(bySession[t.SessionID], t)
	}
	names := make([]string, 0, len(bySession))
	for name := range bySession {
		names = append(names, name)
	}
	each(len(names), 8, func(k int) { c.api(k).checkTold(names[k], bySession[names[k]]...) })
	slices.Sort(waits)
	c.t.Logf("%s: %d answered, %d for want of a vendor, %d in a further attempt; %d requests repeated, slowest acceptance %d ms; waited p50 %d, p99 %d ms",
		c.name, len(waits)+failed, failed, again, c.retries.Load(), c.slowest.Load(), at(waits, 0.5), at(waits, 0.99))
}

// at returns a quantile of sorted numbers.
func at(sorted []int64, q float64) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
