package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"sluice/internal/queue"
	"sluice/internal/rules"
)

// subprotocol is what a client must offer.
const subprotocol = "sluice.v1"

// SocketConfig describes the sockets. The zero value is the default.
type SocketConfig struct {
	Hello   time.Duration // the longest wait for a hello. Defaults to 10s.
	Ping    time.Duration // how often both sides ask for a sign of life. Defaults to 25s.
	Write   time.Duration // the longest that one frame may take to leave. Defaults to 10s.
	Refresh time.Duration // how often a place in the queue is looked at. Defaults to 2s.
	Lag     int           // events and deltas that a reader may fall behind. Defaults to 256.
	Rate    float64       // messages a second from one socket. Defaults to 2.
	Burst   int           // messages at once from one socket. Defaults to 10.
	// Grace is how long a session may be without a socket before what waits for its
	// customer is cancelled. Defaults to 30s.
	Grace time.Duration
}

// Validate names the field that is wrong.
func (c SocketConfig) Validate() error {
	for name, v := range map[string]int64{
		"Hello": int64(c.Hello), "Ping": int64(c.Ping), "Write": int64(c.Write), "Refresh": int64(c.Refresh),
		"Lag": int64(c.Lag), "Burst": int64(c.Burst), "Grace": int64(c.Grace),
	} {
		if v < 0 {
			return fmt.Errorf("socket config: %s must not be negative, is %d", name, v)
		}
	}
	if !(c.Rate >= 0) {
		return fmt.Errorf("socket config: Rate must not be negative, is %v", c.Rate)
	}
	return nil
}

func (c SocketConfig) withDefaults() SocketConfig {
	return SocketConfig{
		Hello: or(c.Hello, 10*time.Second), Ping: or(c.Ping, 25*time.Second), Write: or(c.Write, 10*time.Second),
		Refresh: or(c.Refresh, 2*time.Second), Lag: or(c.Lag, 256),
		Rate: or(c.Rate, 2), Burst: or(c.Burst, 10), Grace: or(c.Grace, 30*time.Second),
	}
}

func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// socketDeps is what the sockets work with.
type socketDeps struct {
	queue  *queue.Queue
	intake *Intake
	hub    *hub
	line   Line
	limits func() rules.Sockets // in force now
	log    zerolog.Logger
}

// sockets holds every open socket of the process. It is safe for concurrent use.
type sockets struct {
	socketDeps
	cfg      SocketConfig
	presence *presence
	wg       sync.WaitGroup // a count for each socket in all, and for each that is about to be

	mu        sync.Mutex // guards what follows
	all       map[*socket]struct{}
	tenants   map[string]int
	sessions  map[talk][]*socket // in the order of joining
	addresses addresses
	closed    bool
}

func newSockets(d socketDeps, cfg SocketConfig) *sockets {
	s := &sockets{
		socketDeps: d, cfg: cfg.withDefaults(),
		all: map[*socket]struct{}{}, tenants: map[string]int{}, sessions: map[talk][]*socket{},
		addresses: addresses{},
	}
	s.presence = newPresence(d.queue, s.here, s.cfg.Grace, d.log)
	return s
}

// handle serves GET /v1/chat. The socket and everything that it starts outlive the
// request, whose memory they do without; closeAll waits for them.
func (s *sockets) handle(c echo.Context) error {
	if !s.begin() {
		return errDraining()
	}
	conn, err := websocket.Accept(c.Response(), c.Request(), &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol},
		// The origin is checked at the hello: only its key says whose list counts.
		InsecureSkipVerify: true,
	})
	if err != nil {
		// The library has answered already.
		s.log.Debug().Err(err).Msg("socket was not opened")
		s.wg.Done()
		return nil
	}
	// An oversized frame is ours to refuse, with our own code.
	conn.SetReadLimit(-1)
	hard, cut := context.WithCancel(context.Background())
	k := newSocket(hard, s, conn, slices.Clone(c.Request().Header.Values("Origin")), cut)
	if reason := s.enter(k, c.Request()); reason != "" {
		k.end(closeTooMany, reason)
	}
	go func() {
		defer cut()
		defer s.leave(hard, k)
		k.run(hard)
	}()
	return nil
}

// count returns how many sockets are open.
func (s *sockets) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// closeAll takes no more sockets in, tells every client to come back later, closes
// with 4001 and waits until all that the sockets started has ended. When ctx ends
// first, what is left is cut; one that is in the middle of its close handshake is waited
// for as long as the library does, 5 s.
func (s *sockets) closeAll(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	after := s.spread()
	for k := range s.all {
		k.goAway(after)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.wg.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for k := range s.all {
		k.cut()
	}
	s.mu.Unlock()
	<-done
	return errors.New("close sockets: some had to be cut")
}

// begin counts a socket that is about to open; false: no more do.
func (s *sockets) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.wg.Add(1)
	}
	return !s.closed
}

// spread is over how long the clients come back when all are sent away now.
func (s *sockets) spread() time.Duration {
	l := s.limits()
	return min(max(time.Second, time.Duration(len(s.all))*time.Second/time.Duration(l.Returns)), l.Spread)
}

// enter counts a socket; leave must follow whatever it returns. A reason refuses it.
func (s *sockets) enter(k *socket, r *http.Request) (reason string) {
	l := s.limits()
	network := networkOf(r, l.Proxies)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[k] = struct{}{}
	var ok bool
	k.address, ok = s.addresses.enter(network, l)
	switch {
	case s.closed:
		k.goAway(s.spread())
	case len(s.all) > l.Max:
		return "this server has no room for another socket"
	case !ok:
		return "too many sockets from one address"
	}
	return ""
}

// join counts a socket that has said whose it is. A code other than 0 refuses it. One too
// many of a session ends the session's oldest.
func (s *sockets) join(k *socket, t talk) (code websocket.StatusCode, reason string) {
	l := s.limits()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.tenants[t.tenant] >= l.PerTenant:
		return closeTooMany, "the tenant has no room for another socket"
	}
	// Behind a bad network the oldest are those whose loss nobody has noticed yet.
	for open := s.sessions[t]; len(open) >= l.PerSession; open = s.sessions[t] {
		open[0].end(closeTooManyHere, "the session is open too often")
		s.sessions[t] = open[1:]
	}
	s.tenants[t.tenant]++
	s.sessions[t] = append(s.sessions[t], k)
	k.joined = &t
	return 0, ""
}

// leave undoes begin, enter and join. The last socket of a session tells presence so, unless it
// was this process that sent everybody away.
func (s *sockets) leave(ctx context.Context, k *socket) {
	defer s.wg.Done()
	if t, last := s.part(k); last {
		s.presence.left(ctx, t)
	}
}

func (s *sockets) part(k *socket) (t talk, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, k)
	k.address.leave()
	if k.joined == nil {
		return talk{}, false
	}
	t = *k.joined
	if s.tenants[t.tenant]--; s.tenants[t.tenant] == 0 {
		delete(s.tenants, t.tenant)
	}
	open := slices.DeleteFunc(slices.Clone(s.sessions[t]), func(other *socket) bool { return other == k })
	if s.sessions[t] = open; len(open) == 0 {
		delete(s.sessions, t)
	}
	return t, len(open) == 0 && !s.closed
}

// here reports whether the session has a socket or a long poll on this node.
func (s *sockets) here(t talk) bool {
	s.mu.Lock()
	open := len(s.sessions[t]) > 0
	s.mu.Unlock()
	return open || s.hub.hears(t)
}
