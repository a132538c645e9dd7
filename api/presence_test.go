package api

import (
	"fmt"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

const grace = 30 * time.Second

func TestWhatWaitsForACustomerWhoLeftIsCancelledAfterTheGrace(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		one, done := c.node()
		defer done()
		_, done = c.node() // acts at the same time
		defer done()
		socket, welcome := one.hello(nil)
		running, waiting := socket.ask("1", "Where is my order?", nil), socket.ask("2", "And my other one?", nil)
		stays, _ := one.hello(nil)
		kept := stays.ask("1", "Hello?", nil)
		must(t, c.queue.Pull(t.Context(), chat.High, 1, time.Second, func(j *queue.Job) {
			s, err := c.queue.Admit(t.Context(), j)
			must(t, err)
			_, err = c.queue.Take(t.Context(), s, time.Now())
			must(t, err)
		}))
		nudged := make(chan string, 9)
		stop, err := c.queue.Nudges(func(ticket string) { nudged <- ticket })
		must(t, err)
		defer stop()
		socket.leave()
		time.Sleep(grace - time.Second)
		c.isOpen("within the grace", running, true)
		c.isOpen("within the grace", waiting, true)
		c.depth(chat.High, 3)
		time.Sleep(1100 * time.Millisecond)
		c.isOpen("after the grace", running, false)
		c.isOpen("after the grace", waiting, false)
		c.isOpen("another session", kept, true)
		c.depth(chat.High, 1)
		if got := map[string]bool{<-nudged: true, <-nudged: true}; !got[running] || !got[waiting] {
			t.Errorf("nudged %v, want both", got)
		}
		events, _, _, err := c.queue.Events(t.Context(), "demo", welcome.text("session"), 0, 99)
		if err != nil || len(events) != 4 || events[2].Reason != chat.ReasonAbandoned || events[3].Reason != chat.ReasonAbandoned {
			t.Errorf("events %+v, %v; want two messages and two ends", events, err)
		}
		// Who comes back later learns it.
		back, later := one.hello(again(welcome, 2))
		if later.number("head") != 4 {
			t.Errorf("welcome %v", later)
		}
		back.leave()
		time.Sleep(2 * time.Minute)
		c.isOpen("another session, later", kept, true)
		stays.leave()
	})
}

// A socket is not the only way in which an answer arrives.
func TestWhatReachesACustomerOtherwiseIsKept(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		n, done := c.node()
		defer done()
		socket, welcome := n.hello(nil)
		byPhone := socket.ask("1", "Call me", frame{"phone": "+8613800138000"})
		bySocket := socket.ask("2", "Hello?", nil)
		byHTTP := n.post(`{"message":"Over HTTP","session_id":"` + welcome.text("session") + `"}`)
		socket.leave()
		time.Sleep(4 * grace)
		c.isOpen("with a phone", byPhone, true)
		c.isOpen("over HTTP", byHTTP, true)
		c.isOpen("over the socket", bySocket, false)
		c.depth(chat.High, 2)
	})
}

func TestWhoComesBackOnAnotherNodeKeepsEverything(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		one, done := c.node()
		defer done()
		two, done := c.node()
		defer done()
		socket, welcome := one.hello(nil)
		asked := socket.ask("1", "Where is my order?", nil)
		for range 3 {
			socket.leave()
			time.Sleep(grace - 10*time.Millisecond)
			socket, _ = two.hello(again(welcome, 1))
			time.Sleep(2 * time.Minute)
			c.isOpen("back on the other node", asked, true)
			one, two = two, one
		}
		socket.leave()
		time.Sleep(grace + 100*time.Millisecond)
		c.isOpen("gone for good", asked, false)
	})
}

func TestASessionThatIsOpenElsewhereHasNotLeft(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		one, done := c.node()
		defer done()
		two, done := c.node()
		defer done()
		first, welcome := one.hello(nil)
		asked := first.ask("1", "Where is my order?", nil)
		second, _ := two.hello(again(welcome, 1))
		third, _ := one.hello(again(welcome, 1))
		first.leave()
		time.Sleep(2 * time.Minute)
		c.isOpen("two tabs are left", asked, true)
		third.leave()
		time.Sleep(2 * time.Minute)
		c.isOpen("the tab of the other node is left", asked, true)
		second.leave()
		time.Sleep(grace + 100*time.Millisecond)
		c.isOpen("no tab is left", asked, false)
	})
}

// A page that can open no socket any more goes on with polls.
func TestWhoPollsHasNotLeft(t *testing.T) {
	for wait, every := range map[string]time.Duration{"25s": 0, "0s": 20 * time.Second} {
		inCluster(t, func(t *testing.T, c *cluster) {
			one, done := c.node()
			defer done()
			two, done := c.node()
			defer done()
			socket, welcome := one.hello(nil)
			asked := socket.ask("1", "Where is my order?", nil)
			socket.leave()
			time.Sleep(time.Second)
			for range 6 {
				two.poll(welcome, wait)
				time.Sleep(every)
			}
			c.isOpen("polls of "+wait, asked, true)
		})
	}
}

// A node that goes takes its sockets with it: no customer has left.
func TestANodeThatStopsOrIsCutOffAbandonsNobody(t *testing.T) {
	for name, end := range map[string]func(*apiNode){
		"stops":      func(n *apiNode) { n.stop() },
		"is cut off": func(n *apiNode) { n.nc.Close() },
	} {
		inCluster(t, func(t *testing.T, c *cluster) {
			one, done := c.node()
			_, doneTwo := c.node()
			defer doneTwo()
			socket, _ := one.hello(nil)
			asked := socket.ask("1", "Where is my order?", nil)
			end(one)
			socket.leave()
			time.Sleep(2 * time.Minute)
			c.isOpen(name, asked, true)
			done()
		})
	}
}

// The node that saw a customer leave need not be there when the grace is over.
func TestAnotherNodeActsForOneThatHasStopped(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		one, done := c.node()
		socket, _ := one.hello(nil)
		asked := socket.ask("1", "Where is my order?", nil)
		socket.leave()
		time.Sleep(10 * time.Second)
		_, doneTwo := c.node()
		defer doneTwo()
		done()
		time.Sleep(grace - time.Second)
		c.isOpen("within the grace of the new node", asked, true)
		time.Sleep(2 * time.Second)
		c.isOpen("after it", asked, false)
	})
}

// Who comes back in the very moment finds all of it, or learns that it is gone.
func TestAReturnInTheLastMomentIsAllOrNothing(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		one, done := c.node()
		defer done()
		two, done := c.node()
		defer done()
		outcomes := map[int]int{}
		for i := range 20 {
			socket, welcome := one.hello(nil)
			var asked []string
			for k := range 5 {
				asked = append(asked, socket.ask(fmt.Sprint(k), fmt.Sprintf("Question %d", k), nil))
			}
			socket.leave()
			time.Sleep(grace + time.Duration(i-10)*100*time.Microsecond)
			back, _ := two.hello(again(welcome, 0))
			time.Sleep(time.Second)
			open := 0
			for _, id := range asked {
				if !c.ticket(id).Status.Ended() {
					open++
				}
			}
			outcomes[open]++
			back.leave()
			time.Sleep(grace + time.Second)
		}
		if outcomes[0]+outcomes[5] != 20 || outcomes[0] == 0 || outcomes[5] == 0 {
			t.Errorf("open tickets after a return: %v, want all or none of 5, and both", outcomes)
		}
		c.depth(chat.High, 0)
	})
}

func TestACustomerForWhomNothingWaitsLeavesNoTrace(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		n, done := c.node()
		defer done()
		socket, _ := n.hello(nil)
		asked := socket.ask("1", "Where is my order?", nil)
		_, err := c.queue.Cancel(t.Context(), asked, chat.ReasonCustomer, time.Now())
		must(t, err)
		socket.leave()
		time.Sleep(time.Second)
		n.api.sockets.presence.mu.Lock()
		defer n.api.sockets.presence.mu.Unlock()
		if away := n.api.sockets.presence.away; len(away) != 0 {
			t.Errorf("departures %v", away)
		}
	})
}
