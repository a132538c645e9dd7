//go:build cluster

package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// frame is what the tests look at of a frame of the socket.
type frame struct {
	Type      string `json:"type"`
	Session   string `json:"session"`
	Token     string `json:"token"`
	Recovered bool   `json:"recovered"`
	Seq       uint64 `json:"seq"`
	Who       string `json:"who"`
	Ticket    string `json:"ticket"`
	Text      string `json:"text"`
	Code      string `json:"code"`
}

// visitor is a customer's socket at one api node.
type visitor struct {
	t    *testing.T
	ctx  context.Context
	conn *websocket.Conn
	seen []frame
}

// visit opens a socket at a node, and answers with the welcome.
func (c *cluster) visit(i *instance, hello map[string]any) (*visitor, frame) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	c.t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(i.base, "http")+"/v1/chat", &websocket.DialOptions{
		HTTPClient: i.http, Subprotocols: []string{"sluice.v1"}, HTTPHeader: http.Header{"Origin": {shopOrigin}},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.CloseNow() })
	v := &visitor{t: c.t, ctx: ctx, conn: conn}
	hello["type"], hello["key"] = "hello", c.public
	v.write(hello)
	return v, v.until("welcome", func(f frame) bool { return f.Type == "welcome" })
}

func (v *visitor) write(body any) {
	v.t.Helper()
	if err := wsjson.Write(v.ctx, v.conn, body); err != nil {
		v.t.Fatal(err)
	}
}

// until reads frames until one is it.
func (v *visitor) until(what string, is func(frame) bool) frame {
	v.t.Helper()
	for {
		var f frame
		if err := wsjson.Read(v.ctx, v.conn, &f); err != nil {
			v.t.Fatalf("wait for %s: %v; before it: %+v", what, err, v.seen)
		}
		v.seen = append(v.seen, f)
		if is(f) {
			return f
		}
	}
}

func (v *visitor) count(is func(frame) bool) (n int) {
	for _, f := range v.seen {
		if is(f) {
			n++
		}
	}
	return n
}

func answer(ticket string) func(frame) bool {
	return func(f frame) bool { return f.Type == "event" && f.Who == "bot" && f.Ticket == ticket }
}

// TestASocketHearsWhatAnotherNodeWorksOut: no api node runs jobs here, so every delta
// and event crosses the cluster; a client that comes back to another node goes on there.
func TestASocketHearsWhatAnotherNodeWorksOut(t *testing.T) {
	c := startCluster(t)
	p := c.start("api", "api", "dispatcher")
	one, welcome := c.visit(p[0], map[string]any{})
	one.write(map[string]any{"type": "send", "cmid": "m1", "text": "Where is my parcel 1?"})
	ack := one.until("ack", func(f frame) bool { return f.Type == "ack" })
	final := one.until("the answer", answer(ack.Ticket))
	if n := one.count(func(f frame) bool { return f.Type == "delta" && f.Ticket == ack.Ticket }); n == 0 {
		t.Error("no delta of the answer came from the other node")
	}

	// The second message's answer is worked out while the client is on its way.
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "2s"}})
	one.write(map[string]any{"type": "send", "cmid": "m2", "text": "And where is parcel 2?"})
	second := one.until("ack", func(f frame) bool { return f.Type == "ack" })
	_ = one.conn.CloseNow()
	resume := map[string]any{"session": welcome.Session, "token": welcome.Token, "after": final.Seq}
	two, back := c.visit(p[1], resume)
	if !back.Recovered || back.Session != welcome.Session {
		t.Errorf("the welcome of the other node is %+v, want the session recovered", back)
	}
	two.until("the second answer", answer(second.Ticket))
	want := final.Seq + 1
	for _, f := range two.seen {
		if f.Type == "event" {
			if f.Seq != want {
				t.Errorf("after %d came event %d, want %d", want-1, f.Seq, want)
			}
			want++
		}
	}
	if want != final.Seq+3 {
		t.Errorf("%d events came, want the question and the answer", want-1-final.Seq)
	}
	// The same cmid at the other node is the same message.
	two.write(map[string]any{"type": "send", "cmid": "m2", "text": "And where is parcel 2?"})
	if again := two.until("ack", func(f frame) bool { return f.Type == "ack" }); again.Ticket != second.Ticket {
		t.Errorf("the repeated cmid became ticket %s, want %s", again.Ticket, second.Ticket)
	}
}

// TestALongPollHearsOfATicketOfAnotherNode, within moments of its end.
func TestALongPollHearsOfATicketOfAnotherNode(t *testing.T) {
	c := startCluster(t)
	p := c.start("api", "api", "dispatcher")
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "3s"}})
	asked := p[0].ask(question{Message: "Where is my parcel?", SessionID: "far"})
	heard := make(chan time.Time, 1)
	go func() {
		var page struct{ Events []event }
		// After the question: the next event is the answer.
		if err := p[1].call(call{url: "/v1/sessions/far/events?after=1&wait=30s"}, &page); err != nil || len(page.Events) == 0 {
			t.Errorf("long poll of events: %+v, %v", page, err)
		}
		heard <- time.Now()
	}()
	got := p[1].end(asked.TicketID, 30*time.Second)
	told, event := time.Now(), <-heard
	for what, at := range map[string]time.Time{"ticket": told, "events": event} {
		after := at.Sub(*got.EndedAt)
		t.Logf("the long poll of the %s answered %s after the end", what, after.Round(time.Millisecond))
		if after > 2*time.Second {
			t.Errorf("the long poll of the %s answered %s after the end", what, after)
		}
	}
}
