package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

// talkOf puts n messages into a session of demo.
func (r *socketRig) talkOf(session string, from, n int) {
	r.t.Helper()
	tenant, err := r.queue.Tenant(r.t.Context(), "demo")
	must(r.t, err)
	for i := range n {
		_, _, err := r.intake.Submit(r.t.Context(), Message{Tenant: tenant, Session: session, Text: fmt.Sprintf("message %d", from+i)})
		must(r.t, err)
	}
}

func TestSocketResumesWithoutAGap(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	_, welcome := r.hello(nil)
	session := welcome.text("session")
	const old, late = page + 60, 60
	r.talkOf(session, 0, old)
	var writer sync.WaitGroup
	writer.Go(func() { r.talkOf(session, old, late) })
	for _, after := range []int{0, 7, old - 1} {
		c, again := r.hello(again(welcome, after))
		if again["recovered"] != true || again.number("head") < old {
			t.Errorf("welcome %v", again)
		}
		for want := after + 1; want <= old+late; want++ {
			if e := c.hear("event"); e.number("seq") != want {
				t.Fatalf("after %d: seq %d, want %d", after, e.number("seq"), want)
			}
		}
	}
	writer.Wait()
}

func TestSocketWithoutAfterBeginsAtTheHead(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	_, welcome := r.hello(nil)
	r.talkOf(welcome.text("session"), 0, 3)
	more := again(welcome, 0)
	delete(more, "after")
	c, second := r.hello(more)
	if second.number("head") != 3 || second["recovered"] != true {
		t.Errorf("welcome %v", second)
	}
	r.talkOf(welcome.text("session"), 3, 1)
	if e := c.hear("event"); e.number("seq") != 4 {
		t.Errorf("event %v", e)
	}
}

func TestSocketTellsThatThePastIsNotTheClients(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	_, welcome := r.hello(nil)
	r.talkOf(welcome.text("session"), 0, 2)
	c, second := r.hello(again(welcome, 99))
	if second["recovered"] != false || second.number("head") != 2 {
		t.Errorf("welcome %v", second)
	}
	if e := c.hear("event"); e.number("seq") != 1 {
		t.Errorf("event %v", e)
	}
}

func TestSocketReadsTheLogWhenItMissedSomething(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	// A hub that only the test feeds: it forgets some events and repeats others.
	deaf := newHub(f.queue)
	close(deaf.up)
	r := socketRigOn(f, deaf, SocketConfig{})
	c, welcome := r.hello(frame{"after": 0})
	session := welcome.text("session")
	r.talkOf(session, 0, 5)
	events, _, _, err := r.queue.Events(t.Context(), "demo", session, 0, 10)
	must(t, err)
	for _, i := range []int{0, 0, 3, 1, 4} {
		deaf.give(talk{"demo", session}, item{Event: &events[i]})
	}
	for want := 1; want <= 5; want++ {
		if e := c.hear("event"); e.number("seq") != want {
			t.Fatalf("seq %d, want %d", e.number("seq"), want)
		}
	}
	c.say(frame{"type": "ping"})
	if f, err := c.next(); err != nil || f.text("type") != "pong" || f.number("head") != 5 {
		t.Errorf("after the last event: %v %v", f, err)
	}
}

// A piece of the bot's answer that set out before a person came may arrive behind that.
func TestNoDeltaIsShownAfterAPersonCame(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	deaf := newHub(f.queue)
	close(deaf.up)
	r := socketRigOn(f, deaf, SocketConfig{})
	c, welcome := r.hello(frame{"after": 0})
	to := talk{"demo", welcome.text("session")}
	piece := func(text string) {
		deaf.give(to, item{Delta: &chat.Delta{Ticket: chat.NewTicketID(), Attempt: 1, Text: text}})
	}
	owner := func(seq uint64, owner chat.Owner) {
		deaf.give(to, item{Event: &chat.Event{Seq: seq, Kind: chat.KindOwner, Who: chat.BySystem, Owner: owner}})
	}
	piece("before")
	owner(1, chat.OwnerHuman)
	piece("overtaken")
	owner(2, chat.OwnerBot)
	piece("after")
	var heard []string
	for range 4 {
		got, err := c.next()
		must(t, err)
		heard = append(heard, cmp.Or(got.text("text"), got.text("owner")))
	}
	if want := []string{"before", "human", "bot", "after"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

func TestSocketClosesASlowReaderWhoResumes(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{Lag: 8, Write: time.Minute})
	c, welcome := r.hello(frame{"after": 0})
	session := welcome.text("session")
	r.talkOf(session, 0, 1)
	// More than the buffers of a loopback connection hold, while nobody reads.
	text := strings.Repeat("x", 64<<10)
	for i := range 250 {
		must(t, r.queue.SendDelta("demo", session, chat.Delta{Ticket: chat.NewTicketID(), Attempt: 1, I: i, Text: text}))
	}
	for deadline := time.After(30 * time.Second); r.hears(session); {
		select {
		case <-deadline:
			t.Fatal("the listener did not overflow")
		case <-time.After(time.Millisecond):
		}
	}
	c.closedWith(closeSlow)
	c, _ = r.hello(again(welcome, 0))
	if e := c.hear("event"); e.number("seq") != 1 {
		t.Errorf("event %v", e)
	}
}

// hears reports whether anybody listens to a session of demo.
func (r *socketRig) hears(session string) bool {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return len(r.hub.listeners[talk{"demo", session}]) > 0
}

func TestSocketShowsAPlaceThatNeverGetsWorse(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{Refresh: 40 * time.Millisecond})
	r.line.set(5)
	c, welcome := r.hello(nil)
	c.say(frame{"type": "send", "cmid": "1", "text": "hello"})
	id := c.hear("ack").text("ticket")
	if q := c.hear("queue"); q.text("ticket") != id || q.text("lane") != "high" || q.number("position") != 5 || q.number("eta_ms") != 5000 {
		t.Errorf("queue %v", q)
	}
	r.line.set(9)
	if q := c.hear("queue"); q.number("position") != 5 || q.number("eta_ms") != 9000 {
		t.Errorf("queue %v", q)
	}
	r.line.set(2)
	if q := c.hear("queue"); q.number("position") != 2 {
		t.Errorf("queue %v", q)
	}
	// The place survives a reconnect, and no place is shown once the ticket has ended.
	c, _ = r.hello(again(welcome, 0))
	if q := c.hear("queue"); q.text("ticket") != id || q.text("lane") != "high" || q.number("position") != 2 {
		t.Errorf("after a reconnect: %v", q)
	}
	job, s := r.take(chat.High)
	r.end(job, s)
	for e := c.hear("event"); e.text("who") != "bot"; e = c.hear("event") {
	}
	r.line.set(1)
	c.say(frame{"type": "send", "cmid": "2", "text": "another"})
	if q := c.hear("queue"); q.text("ticket") == id {
		t.Errorf("an ended ticket stands in the line: %v", q)
	}
}
