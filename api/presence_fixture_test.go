package api

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// cluster is an engine in a bubble, for any number of api nodes.
type cluster struct {
	t      *testing.T
	server *queue.Server
	queue  *queue.Queue // of the test
	demo   chat.Keys
}

// apiNode is one process of the stage, reached in memory.
type apiNode struct {
	*cluster
	api    *API
	nc     *nats.Conn
	client *http.Client
	stop   func() // ends Run and returns when it has ended
}

// inCluster runs f in a bubble; the nodes that f starts are stopped after it.
func inCluster(t *testing.T, f func(t *testing.T, c *cluster)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely})
		must(t, err)
		defer queuetest.Stop(server)
		c := &cluster{t: t, server: server}
		nc, q := c.open()
		defer nc.Close()
		c.queue = q
		tenant, keys := newTenant("demo", chat.High, time.Now())
		tenant.Loopback = true
		must(t, q.AddTenant(t.Context(), tenant))
		c.demo = keys
		f(t, c)
	})
}

func (c *cluster) open() (*nats.Conn, *queue.Queue) {
	c.t.Helper()
	nc, err := c.server.Dial()
	must(c.t, err)
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 500
	}
	q, err := queue.Open(c.t.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()})
	must(c.t, err)
	return nc, q
}

// node starts a node, and returns it with what stops it for good.
func (c *cluster) node() (n *apiNode, done func()) {
	c.t.Helper()
	limits := map[chat.Lane]rules.Lane{}
	for _, lane := range chat.Lanes() {
		limits[lane] = rules.Lane{Bound: 500, MaxWait: time.Hour}
	}
	live := &rules.Rules{Lanes: limits, Sockets: rules.DefaultSockets()}
	nc, q := c.open()
	a, err := New(Deps{
		Queue: q, Rules: func() *rules.Rules { return live }, Classify: classifyByWord, Line: frontLine{}, Log: zerolog.Nop(),
	}, Config{})
	must(c.t, err)
	door := sim.NewPipeListener()
	n = &apiNode{cluster: c, api: a, nc: nc, client: &http.Client{Transport: &http.Transport{DialContext: door.Dial}}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := a.Run(ctx, door); err != nil {
			c.t.Error(err)
		}
	}()
	n.stop = func() { cancel(); <-ended } // may be called again
	<-a.hub.ready()
	return n, func() {
		n.client.CloseIdleConnections()
		n.stop()
		nc.Close()
	}
}

// post submits a ticket over HTTP and returns its id.
func (n *apiNode) post(body string) string {
	n.t.Helper()
	a := n.call("POST", "http://node/v1/tickets", n.demo.Secret, body)
	if a.status != http.StatusAccepted {
		n.t.Fatalf("submit: %d %s", a.status, a.raw)
	}
	return a.text("ticket_id")
}

// poll asks for the events of the session of a welcome, with its token.
func (n *apiNode) poll(welcome frame, wait string) {
	n.t.Helper()
	path := "http://node/v1/sessions/" + welcome.text("session") + "/events?after=1&wait=" + wait
	if a := n.call("GET", path, welcome.text("token"), ""); a.status != http.StatusOK {
		n.t.Fatalf("poll: %d %s", a.status, a.raw)
	}
}

// call sends a request; headers are pairs.
func (n *apiNode) call(method, url, key, body string, headers ...string) answer {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), method, url, strings.NewReader(body))
	must(n.t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := n.client.Do(req)
	must(n.t, err)
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	a.raw, err = io.ReadAll(res.Body)
	must(n.t, err)
	_ = json.Unmarshal(a.raw, &a.json)
	return a
}

// tab is a page with an open socket. It reads all the time, as a browser does.
type tab struct {
	t      *testing.T
	conn   *websocket.Conn
	frames chan frame // closed when the socket has ended
}

// hello opens a socket; more goes into the hello.
func (n *apiNode) hello(more frame) (*tab, frame) {
	n.t.Helper()
	conn, _, err := websocket.Dial(n.t.Context(), "ws://node/v1/chat", &websocket.DialOptions{
		HTTPClient: n.client, Subprotocols: []string{subprotocol},
	})
	must(n.t, err)
	conn.SetReadLimit(-1)
	p := &tab{t: n.t, conn: conn, frames: make(chan frame, 1000)}
	go p.read()
	f := frame{"type": "hello", "key": n.demo.Publishable}
	maps.Copy(f, more)
	p.say(f)
	return p, p.hear("welcome")
}

func (p *tab) read() {
	defer close(p.frames)
	for {
		var f frame
		_, raw, err := p.conn.Read(context.Background())
		if err != nil || json.Unmarshal(raw, &f) != nil {
			return
		}
		p.frames <- f
	}
}

func (p *tab) say(f frame) {
	p.t.Helper()
	raw, err := json.Marshal(f)
	must(p.t, err)
	must(p.t, p.conn.Write(p.t.Context(), websocket.MessageText, raw))
}

// hear returns the next frame of a type and passes over others.
func (p *tab) hear(kind string) frame {
	p.t.Helper()
	for f := range p.frames {
		if f.text("type") == kind {
			return f
		}
	}
	p.t.Fatalf("the socket ended before a frame of type %s", kind)
	return nil
}

// ask sends a message over the socket and returns its ticket.
func (p *tab) ask(cmid, text string, more frame) string {
	p.t.Helper()
	f := frame{"type": "send", "cmid": cmid, "text": text}
	maps.Copy(f, more)
	p.say(f)
	return p.hear("ack").text("ticket")
}

// leave goes away, as a page does that is closed. It may be called again.
func (p *tab) leave() {
	_ = p.conn.CloseNow()
	for range p.frames {
	}
}

func (c *cluster) ticket(id string) chat.Ticket {
	c.t.Helper()
	s, err := c.queue.Ticket(c.t.Context(), id)
	must(c.t, err)
	return s.Ticket
}

// open checks that a ticket is open, or was cancelled because its customer left.
func (c *cluster) isOpen(when, id string, want bool) {
	c.t.Helper()
	got := c.ticket(id)
	if open := !got.Status.Ended(); open != want || !open && (got.Status != chat.Cancelled || got.Reason != chat.ReasonAbandoned) {
		c.t.Errorf("%s: the ticket is %s (%s), open should be %v", when, got.Status, got.Reason, want)
	}
}

func (c *cluster) depth(lane chat.Lane, want int) {
	c.t.Helper()
	if got, err := c.queue.Depth(c.t.Context(), lane); err != nil || got != want {
		c.t.Errorf("depth of %s = %d (%v), want %d", lane, got, err, want)
	}
}
