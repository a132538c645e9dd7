package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

// socketRig serves sockets beside the stage of a fixture.
type socketRig struct {
	*fixture
	sockets *sockets
	limits  atomic.Pointer[rules.Sockets]
	line    *places
	url     string
}

// places is a line in which tickets stand where the test puts them.
type places struct {
	mu       sync.Mutex // guards position
	position int        // of every ticket; 0: none stands in the line
}

func (p *places) set(position int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.position = position
}

func (p *places) Standing(string) (int, time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.position, time.Duration(p.position) * time.Second, p.position > 0
}

func (p *places) Behind(chat.Lane) (int, time.Duration) { return 1, time.Second }

func newSocketRig(t *testing.T, cfg SocketConfig) *socketRig {
	t.Helper()
	return socketRigOn(setup(t, nil), nil, cfg)
}

// socketRigOn lets the sockets hear a hub of the test's own; nil: the stage's.
func socketRigOn(f *fixture, h *hub, cfg SocketConfig) *socketRig {
	f.t.Helper()
	if h == nil {
		h = f.hub
	}
	line := &places{}
	r := &socketRig{fixture: f, line: line}
	r.limit(func(*rules.Sockets) {})
	s := newSockets(socketDeps{
		queue: f.queue, intake: f.intake, hub: h, line: line, limits: func() rules.Sockets { return *r.limits.Load() }, log: f.deps.Log,
	}, cfg)
	e := echo.New()
	e.GET("/v1/chat", s.handle)
	srv := httptest.NewServer(e)
	f.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		must(f.t, s.closeAll(ctx))
		srv.Close()
	})
	r.sockets, r.url = s, "ws"+strings.TrimPrefix(srv.URL, "http")+"/v1/chat"
	return r
}

// limit puts limits into force: the default ones but for what change changes.
func (r *socketRig) limit(change func(*rules.Sockets)) {
	l := rules.DefaultSockets()
	change(&l)
	r.limits.Store(&l)
}

// client is a socket's other end.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

// frame is a frame of either direction.
type frame map[string]any

func (f frame) text(field string) string { s, _ := f[field].(string); return s }

func (f frame) number(field string) int { n, _ := f[field].(float64); return int(n) }

// dial opens a socket; headers are pairs.
func (r *socketRig) dial(headers ...string) *client {
	r.t.Helper()
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	conn, _, err := websocket.Dial(r.t.Context(), r.url, &websocket.DialOptions{Subprotocols: []string{subprotocol}, HTTPHeader: h})
	must(r.t, err)
	conn.SetReadLimit(-1)
	c := &client{t: r.t, conn: conn}
	r.t.Cleanup(func() { _ = conn.CloseNow() })
	return c
}

// hello opens a socket of demo and returns its welcome; more goes into the hello.
func (r *socketRig) hello(more frame) (*client, frame) {
	r.t.Helper()
	c := r.dial()
	c.say(r.greeting(more))
	return c, c.hear("welcome")
}

func (r *socketRig) greeting(more frame) frame {
	f := frame{"type": "hello", "key": r.demo.Publishable}
	maps.Copy(f, more)
	return f
}

// again is what resumes the session of a welcome after a seq.
func again(welcome frame, after int) frame {
	return frame{"session": welcome.text("session"), "token": welcome.text("token"), "after": after}
}

func (c *client) say(f frame) {
	c.t.Helper()
	raw, err := json.Marshal(f)
	must(c.t, err)
	must(c.t, c.conn.Write(c.t.Context(), websocket.MessageText, raw))
}

// next returns the next frame of whatever type.
func (c *client) next() (frame, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	_, raw, err := c.conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	var f frame
	return f, json.Unmarshal(raw, &f)
}

// hear returns the next frame of a type and passes over others.
func (c *client) hear(kind string) frame {
	c.t.Helper()
	for {
		f, err := c.next()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", kind, err)
		}
		if f.text("type") == kind {
			return f
		}
	}
}

// closed reads to the end and returns the close code and reason.
func (c *client) closed() (websocket.StatusCode, string) {
	c.t.Helper()
	for {
		_, err := c.next()
		if err == nil {
			continue
		}
		var end websocket.CloseError
		if !errors.As(err, &end) {
			c.t.Fatalf("the socket ended without a close frame: %v", err)
		}
		return end.Code, end.Reason
	}
}

func (c *client) closedWith(code websocket.StatusCode) {
	c.t.Helper()
	if got, reason := c.closed(); got != code {
		c.t.Errorf("closed with %d (%s), want %d", got, reason, code)
	}
}

// eventually looks again and again until something is so.
func (r *socketRig) eventually(what string, so func() bool) {
	r.t.Helper()
	for deadline := time.After(20 * time.Second); !so(); {
		select {
		case <-deadline:
			r.t.Fatalf("waited in vain for %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
