package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"sluice/internal/chat"
)

// wrongs are what a counter does wrong, by the number of the message from 0 on.
type wrongs struct {
	lose   func(n int) bool // acknowledged, and not in the log
	double func(n int) bool // stored twice
	twice  func(n int) bool // two ends
	forget func(n int) bool // no end
	mute   func(n int) bool // no ack, and no event
	hide   func(n int) bool // the socket is not told of the end
	wait   func(n int) bool // told to wait, once
	refuse func(n int) bool // refused for good
	cut    func(n int) bool // stored; then the connection ends
	full   bool             // no socket is let in
}

// counter is a small server of the socket's contract: each message is stored, acknowledged
// and answered at once.
type counter struct {
	*httptest.Server
	wrongs wrongs
	open   sync.WaitGroup

	mu     sync.Mutex // guards what follows
	n      int        // messages
	waited bool
	logs   map[string][]chat.Event
	known  map[string]chat.Event // by session and cmid
}

// hello is the first frame of a client, and a later one.
type hello struct {
	Type, Key, Session, Token, CMID, Text string
	After                                 *uint64
}

func newCounter(t *testing.T, w wrongs) *counter {
	t.Helper()
	c := &counter{wrongs: w, logs: map[string][]chat.Event{}, known: map[string]chat.Event{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /metrics", c.metrics)
	mux.HandleFunc("GET /v1/chat", c.chat)
	mux.HandleFunc("GET /v1/sessions/{id}/events", c.events)
	c.Server = httptest.NewServer(mux)
	t.Cleanup(func() { c.Close(); c.open.Wait() })
	return c
}

func (c *counter) target() SocketTarget {
	return SocketTarget{BaseURL: c.URL, Origin: "https://load.example", Keys: []string{"pk_one", "pk_two"}}
}

// metrics tells of 100 MiB, and of 10 KiB more for each session.
func (c *counter) metrics(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(w, "process_resident_memory_bytes %d\nprocess_cpu_seconds_total 1.5\nprocess_max_fds 1000\nprocess_open_fds 10\n", 100<<20+len(c.logs)*10<<10)
}

func (c *counter) events(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	id := r.PathValue("id")
	if r.Header.Get("Authorization") != "Bearer token-"+id {
		problem(w, http.StatusUnauthorized, "unauthorized", false)
		return
	}
	p := page{Events: []chat.Event{}}
	for _, e := range c.logs[id] {
		p.Head = e.Seq
		if e.Seq > after && len(p.Events) < 3 {
			p.Events = append(p.Events, e)
		}
	}
	answer(w, http.StatusOK, p)
}

func (c *counter) chat(w http.ResponseWriter, r *http.Request) {
	c.open.Add(1)
	defer c.open.Done()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}, InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	if c.wrongs.full {
		_ = conn.Close(tooMany, "no room")
		return
	}
	var in hello
	if c.hear(r.Context(), conn, &in) != nil {
		return
	}
	session := in.Session
	if session == "" {
		session = chat.NewSessionID()
	}
	c.mu.Lock()
	past := c.logs[session]
	c.logs[session] = past // a session from now on
	c.mu.Unlock()
	c.say(conn, map[string]any{"type": "welcome", "session": session, "token": "token-" + session, "recovered": true})
	for _, e := range past {
		if in.After != nil && e.Seq > *in.After {
			c.tell(conn, e)
		}
	}
	for c.hear(r.Context(), conn, &in) == nil {
		if !c.obey(conn, session, in) {
			return
		}
	}
}

func (c *counter) hear(ctx context.Context, conn *websocket.Conn, in *hello) error {
	_, raw, err := conn.Read(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, in)
}

// obey takes a message in; false: the connection ends.
func (c *counter) obey(conn *websocket.Conn, session string, in hello) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, dup := c.known[session+in.CMID]; dup {
		c.say(conn, map[string]any{"type": "ack", "cmid": in.CMID, "ticket": known.Ticket, "seq": known.Seq, "dup": true})
		return true
	}
	n := c.n
	key := session + in.CMID
	if is(c.wrongs.wait, n) && !c.waited {
		c.waited = true
		c.say(conn, map[string]any{"type": "error", "cmid": in.CMID, "code": "rate_limited", "retry_after_ms": 5, "temporary": true})
		return true
	}
	c.n++
	e := chat.Event{Kind: chat.KindMessage, Ticket: chat.NewTicketID(), Who: chat.ByCustomer, CMID: in.CMID, Text: in.Text}
	switch {
	case is(c.wrongs.refuse, n):
		c.say(conn, map[string]any{"type": "error", "cmid": in.CMID, "code": "invalid", "temporary": false})
		return true
	case is(c.wrongs.mute, n):
		return true
	case !is(c.wrongs.lose, n):
		e = c.store(session, e)
	}
	c.known[key] = e
	if is(c.wrongs.double, n) {
		c.tell(conn, e)
		e = c.store(session, e)
	}
	final := chat.Event{Kind: chat.KindMessage, Ticket: e.Ticket, Who: chat.ByBot, Status: chat.Answered, Route: chat.RouteAgent}
	if !is(c.wrongs.forget, n) && e.Seq > 0 {
		final = c.store(session, final)
	}
	if is(c.wrongs.cut, n) {
		return false
	}
	if e.Seq > 0 {
		c.tell(conn, e)
	}
	c.say(conn, map[string]any{"type": "ack", "cmid": in.CMID, "ticket": e.Ticket, "seq": e.Seq})
	c.say(conn, map[string]any{"type": "delta", "ticket": e.Ticket, "text": "…"})
	if final.Seq > 0 && !is(c.wrongs.hide, n) {
		c.tell(conn, final)
	}
	if is(c.wrongs.twice, n) {
		c.tell(conn, c.store(session, final))
	}
	return true
}

func (c *counter) store(session string, e chat.Event) chat.Event {
	e.Seq = uint64(len(c.logs[session]) + 1)
	c.logs[session] = append(c.logs[session], e)
	return e
}

func (c *counter) tell(conn *websocket.Conn, e chat.Event) {
	raw, _ := json.Marshal(e)
	c.write(conn, `{"type":"event",`+strings.TrimPrefix(string(raw), "{"))
}

func (c *counter) say(conn *websocket.Conn, f map[string]any) {
	raw, _ := json.Marshal(f)
	// As the server does it: the type comes first.
	c.write(conn, fmt.Sprintf(`{"type":%q,%s`, f["type"], strings.TrimPrefix(string(raw), "{")))
}

// write writes to a client that may have left.
func (c *counter) write(conn *websocket.Conn, text string) {
	_ = conn.Write(context.Background(), websocket.MessageText, []byte(text))
}
