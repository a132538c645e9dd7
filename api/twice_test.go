package api

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/chat"
)

// clicked is what several requests at once came to.
type clicked struct {
	mu      sync.Mutex
	fresh   int
	tickets map[string]bool
}

func (k *clicked) note(ticket string, dup bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tickets[ticket] = true
	if !dup {
		k.fresh++
	}
}

// one checks that one ticket came of it.
func (k *clicked) one(t *testing.T, what string) {
	t.Helper()
	if k.fresh != 1 || len(k.tickets) != 1 {
		t.Errorf("%s: %d were accepted as new, as %d tickets, want one", what, k.fresh, len(k.tickets))
	}
}

// A double click whose halves reach two nodes at once, again and again in one session.
func TestTheSameQuestionOverTwoNodesIsOneTicket(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		var nodes []*apiNode
		for range 2 {
			n, done := c.node()
			defer done()
			nodes = append(nodes, n)
		}
		const rounds, clicks = 25, 4
		for round := range rounds {
			k := &clicked{tickets: map[string]bool{}}
			var all sync.WaitGroup
			for i := range clicks {
				all.Go(func() {
					n := nodes[i%2]
					headers := []string{}
					if round%2 == 1 {
						headers = append(headers, "Idempotency-Key", fmt.Sprintf("key %d %d", round, i))
					}
					a := n.call("POST", "http://node/v1/tickets", n.demo.Secret,
						fmt.Sprintf(`{"message":"Question %d","session_id":"twice"}`, round%3), headers...)
					if a.status != http.StatusAccepted && a.status != http.StatusOK {
						t.Errorf("%d %s", a.status, a.raw)
						return
					}
					k.note(a.text("ticket_id"), a.status == http.StatusOK)
				})
			}
			all.Wait()
			k.one(t, fmt.Sprintf("round %d", round))
			c.depth(chat.High, round+1)
		}
		events, _, _, err := c.queue.Events(t.Context(), "demo", "twice", 0, 999)
		if err != nil || len(events) != rounds {
			t.Fatalf("%d events, %v; want one a round", len(events), err)
		}
		for i, e := range events {
			if e.Seq != uint64(i+1) || e.Text != fmt.Sprintf("Question %d", i%3) {
				t.Errorf("event %d is %+v", i+1, e)
			}
		}
	})
}

// The same over sockets: two tabs of one customer, each with a cmid of its own.
func TestTheSameQuestionOfTwoTabsIsAckedAsOne(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		one, done := c.node()
		defer done()
		two, done := c.node()
		defer done()
		first, welcome := one.hello(nil)
		second, _ := two.hello(again(welcome, 0))
		for round := range 10 {
			k := &clicked{tickets: map[string]bool{}}
			var all sync.WaitGroup
			for i, p := range []*tab{first, second} {
				all.Go(func() {
					p.say(frame{"type": "send", "cmid": fmt.Sprintf("c%d-%d", round, i), "text": fmt.Sprintf("Question %d", round)})
					ack := p.hear("ack")
					dup, _ := ack["dup"].(bool)
					k.note(ack.text("ticket"), dup)
					if ack.number("seq") != round+1 || !strings.HasSuffix(ack.text("cmid"), fmt.Sprint("-", i)) {
						t.Errorf("round %d, tab %d: %v", round, i, ack)
					}
				})
			}
			all.Wait()
			k.one(t, fmt.Sprintf("round %d", round))
			time.Sleep(time.Second) // for the rate of a socket
		}
		c.depth(chat.High, 10)
		first.leave()
		second.leave()
	})
}

// Once it was answered, the same question is a new one, and so it is after another one.
func TestTheSameQuestionLaterIsANewTicket(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		one, done := c.node()
		defer done()
		two, done := c.node()
		defer done()
		ask := func(n *apiNode, text string) string {
			return n.call("POST", "http://node/v1/tickets", n.demo.Secret, `{"message":"`+text+`","session_id":"s"}`).text("ticket_id")
		}
		a := ask(one, "a")
		if got := ask(two, "a"); got != a {
			t.Errorf("the same again is %s, want %s", got, a)
		}
		b := ask(two, "b")
		again := ask(one, "a")
		if again == a || again == b {
			t.Errorf("after another question it is %s of %s, %s", again, a, b)
		}
		if _, err := c.queue.Cancel(t.Context(), again, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := ask(two, "a"); got == again || got == a {
			t.Errorf("after its end it is %s", got)
		}
		c.depth(chat.High, 3)
	})
}
