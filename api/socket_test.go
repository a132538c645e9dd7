package api

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

func TestSocketCarriesAMessageToItsAnswer(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	c, welcome := r.hello(frame{"after": 0, "locale": "en-GB"})
	if !chat.IsSessionID(welcome.text("session")) || welcome.text("token") == "" || welcome["recovered"] != true || welcome.number("head") != 0 {
		t.Fatalf("welcome %v", welcome)
	}
	c.say(frame{"type": "send", "cmid": "m-1", "text": "Where is my order?"})
	own, ack := c.pair()
	if ack.number("seq") != 1 || ack["dup"] != false || own.number("seq") != 1 || own.text("cmid") != "m-1" ||
		own.text("who") != "customer" || own.text("ticket") != ack.text("ticket") {
		t.Fatalf("ack %v event %v", ack, own)
	}
	job, s := r.take(chat.High)
	must(t, r.queue.SendDelta(s.Tenant, s.Session, chat.Delta{Ticket: s.ID, Attempt: 1, I: 0, Text: "It is"}))
	if d := c.hear("delta"); d.text("text") != "It is" || d.number("attempt") != 1 || d.text("ticket") != s.ID {
		t.Errorf("delta %v", d)
	}
	r.end(job, s)
	if e := c.hear("event"); e.number("seq") != 2 || e.text("who") != "bot" || e.text("status") != "answered" || !strings.HasPrefix(e.text("html"), "<p>") {
		t.Errorf("event %v", e)
	}
}

// pair returns the event and the ack of a message; either may come first.
func (c *client) pair() (event, ack frame) {
	c.t.Helper()
	for event == nil || ack == nil {
		f, err := c.next()
		must(c.t, err)
		switch f.text("type") {
		case "event":
			event = f
		case "ack":
			ack = f
		}
	}
	return event, ack
}

func TestSocketTakesTheSameMessageOnce(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{Rate: 1000, Burst: 1000})
	first, welcome := r.hello(nil)
	clients := []*client{first}
	for range 4 {
		c, _ := r.hello(again(welcome, 0))
		clients = append(clients, c)
	}
	acks := make(chan frame, 50)
	var senders sync.WaitGroup
	for _, c := range clients {
		for range 10 {
			senders.Go(func() {
				if err := c.conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"send","cmid":"same","text":"Where is my order?"}`)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	senders.Wait()
	for _, c := range clients {
		for range 10 {
			acks <- c.hear("ack")
		}
	}
	fresh, tickets := 0, map[string]bool{}
	for range 50 {
		a := <-acks
		tickets[a.text("ticket")] = true
		if a["dup"] == false {
			fresh++
		}
		if a.number("seq") != 1 {
			t.Errorf("ack %v", a)
		}
	}
	_, head, _, err := r.queue.Events(t.Context(), "demo", welcome.text("session"), 0, 10)
	must(t, err)
	if fresh != 1 || len(tickets) != 1 || head != 1 {
		t.Errorf("%d fresh acks, %d tickets, head %d; want one of each", fresh, len(tickets), head)
	}
	first.say(frame{"type": "send", "cmid": "same", "text": "Another text"})
	if e := first.hear("error"); e.text("code") != codeIdempotency || e["temporary"] != false || e.text("cmid") != "same" {
		t.Errorf("the same cmid with another text: %v", e)
	}
}

func TestSocketRefusesWhatItCannotTake(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{Rate: 0.5, Burst: 3})
	c, _ := r.hello(nil)
	c.say(frame{"type": "send", "cmid": "a", "text": " \n "})
	if e := c.hear("error"); e.text("code") != codeInvalid || e["temporary"] != false {
		t.Errorf("white space: %v", e)
	}
	c.say(frame{"type": "send", "cmid": "b", "text": strings.Repeat("好", chat.MaxMessage+1)})
	if e := c.hear("error"); e.text("code") != codeInvalid || e.text("cmid") != "b" {
		t.Errorf("too long: %v", e)
	}
	c.say(frame{"type": "send", "cmid": "c", "text": strings.Repeat("好", chat.MaxMessage)})
	if a := c.hear("ack"); a.text("cmid") != "c" {
		t.Errorf("the longest message: %v", a)
	}
	c.say(frame{"type": "send", "cmid": "d", "text": "too fast"})
	if e := c.hear("error"); e.text("code") != codeRateLimited || e["temporary"] != true || e.number("retry_after_ms") < 100 || e.number("retry_after_ms") > 2001 {
		t.Errorf("too fast: %v", e)
	}
	c.say(frame{"type": "rate", "ticket": chat.NewTicketID(), "score": 5, "comment": "fine"})
	if e := c.hear("error"); e.text("code") != codeNotFound || e["temporary"] != false {
		t.Errorf("a ticket that is not there: %v", e)
	}
	c.say(frame{"type": "ping"})
	if p := c.hear("pong"); p.number("head") != 1 {
		t.Errorf("pong %v", p)
	}
	r.intake.draining.Store(true)
	late, _ := r.hello(nil)
	late.say(frame{"type": "send", "cmid": "e", "text": "late"})
	if e := late.hear("error"); e.text("code") != codeDraining || e["temporary"] != true {
		t.Errorf("draining: %v", e)
	}
}

func TestSocketCancelsOnlyItsOwnTickets(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	mine, _ := r.hello(nil)
	other, _ := r.hello(nil)
	mine.say(frame{"type": "send", "cmid": "1", "text": "hello"})
	id := mine.hear("ack").text("ticket")
	for _, ticket := range []string{id, chat.NewTicketID()} {
		other.say(frame{"type": "cancel", "ticket": ticket})
		if e := other.hear("error"); e.text("code") != codeNotFound {
			t.Errorf("a foreign ticket: %v", e)
		}
	}
	mine.say(frame{"type": "cancel", "ticket": id})
	for e := mine.hear("event"); e.text("status") != "cancelled"; e = mine.hear("event") {
	}
	mine.say(frame{"type": "cancel", "ticket": id})
	if e := mine.hear("error"); e.text("code") != codeEnded {
		t.Errorf("an ended ticket: %v", e)
	}
}

func TestSocketClosesOnBadFrames(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	big := `{"type":"send","cmid":"1","text":"` + strings.Repeat("a", maxFrame) + `"}`
	for name, raw := range map[string]string{
		"no JSON":          `hello`,
		"an array":         `[]`,
		"unknown type":     `{"type":"dance"}`,
		"unknown field":    `{"type":"ping","x":1}`,
		"two objects":      `{"type":"ping"} {}`,
		"second hello":     `{"type":"hello","key":"k"}`,
		"bad cmid":         `{"type":"send","cmid":"a b","text":"x"}`,
		"bad ticket":       `{"type":"cancel","ticket":"*"}`,
		"typing how":       `{"type":"typing"}`,
		"bad score":        `{"type":"rate","ticket":"` + chat.NewTicketID() + `","score":9}`,
		"bad UTF-8":        "{\"type\":\"send\",\"cmid\":\"1\",\"text\":\"\xff\"}",
		"more than 64 KiB": big,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := r.hello(nil)
			c.t = t
			must(t, c.conn.Write(t.Context(), websocket.MessageText, []byte(raw)))
			c.closedWith(closeBadFrame)
		})
	}
	c, _ := r.hello(nil)
	must(t, c.conn.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"ping"}`)))
	c.closedWith(closeBadFrame)
	flood, _ := r.hello(nil)
	for range frameBurst + 50 {
		if flood.conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"typing","on":true}`)) != nil {
			break
		}
	}
	flood.closedWith(closeTooMany)
}

func TestSocketsSayGoodbyeAndEnd(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	r.limit(func(l *rules.Sockets) { l.Returns = 2 })
	var all []*client
	for range 5 {
		c, _ := r.hello(nil)
		all = append(all, c)
	}
	silent := r.dial()
	r.eventually("the sixth socket", func() bool { return r.sockets.count() == 6 })
	done := make(chan error, 1)
	go func() { done <- r.sockets.closeAll(context.WithoutCancel(t.Context())) }()
	for _, c := range all {
		if g := c.hear("goaway"); g.number("after_ms") != 3000 {
			t.Errorf("goaway %v", g)
		}
		c.closedWith(closeShutdown)
	}
	silent.closedWith(closeShutdown)
	must(t, <-done)
	if n := r.sockets.count(); n != 0 {
		t.Errorf("%d sockets are left", n)
	}
	if _, res, err := websocket.Dial(t.Context(), r.url, &websocket.DialOptions{Subprotocols: []string{subprotocol}}); err == nil {
		t.Error("a socket was opened after the end")
	} else if res == nil {
		t.Errorf("no answer after the end: %v", err)
	}
}

func TestSocketsCutWhoDoesNotLeave(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	// The client never reads, so it never answers the close frame.
	r.hello(nil)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := r.sockets.closeAll(ctx); err == nil {
		t.Error("closeAll did not tell that it cut a socket")
	}
	if n := r.sockets.count(); n != 0 {
		t.Errorf("%d sockets are left", n)
	}
}

func TestSocketsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	for i := range 40 {
		c, _ := r.hello(nil)
		c.say(frame{"type": "send", "cmid": fmt.Sprint(i), "text": "hello"})
		if i%2 == 0 {
			must(t, c.conn.CloseNow())
		} else {
			must(t, c.conn.Close(websocket.StatusNormalClosure, ""))
		}
	}
	r.eventually("the end of all sockets", func() bool { return r.sockets.count() == 0 })
	if n := len(r.sockets.tenants) + len(r.sockets.sessions); n != 0 {
		t.Errorf("%d counts are left", n)
	}
}
