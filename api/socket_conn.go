package api

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"sluice/internal/chat"
)

// backlog is how many answers of the reader's may wait to be written. Who produces more
// waits; the listener behind the feed is what overflows when a client reads too slowly.
const backlog = 16

// The frames of any type that a client may send, a second and at once.
const (
	frameRate  = 20
	frameBurst = 100
)

// socket is one connection. Its goroutines: the reader (run), after the hello the feed,
// which also writes, now and then a ping, and at the end what closes the connection. run
// waits for them all.
type socket struct {
	*sockets
	conn   *websocket.Conn
	origin []string // as the client's page says
	cut    func()   // ends the connection without another word
	bye    func()   // closes the connection
	wg     sync.WaitGroup
	out    chan any      // the reader's frames for the feed to write
	over   chan struct{} // closed by end
	feeds  atomic.Bool   // the feed has begun
	fed    chan struct{} // and writes no more
	once   sync.Once
	code   websocket.StatusCode // written before over is closed; 0: no close frame
	reason string

	sends  *rate.Limiter
	frames *rate.Limiter
	// sending is the cmid that the intake has in hand and that is not answered yet.
	sending atomic.Pointer[string]
	joined  *talk    // guarded by sockets.mu
	address *address // nil: the machine's own; of it only sends is not guarded by sockets.mu
	reads   readMark
	keys    keys

	// Written by the hello, before any other goroutine reads them.
	name     string // of the socket, so that it does not hear itself
	tenant   chat.Tenant
	session  string
	customer *chat.Customer
	locale   string
}

// newSocket returns a socket that may end at any time. The end of hard cuts it.
func newSocket(hard context.Context, s *sockets, conn *websocket.Conn, origin []string, cut func()) *socket {
	k := &socket{
		sockets: s, conn: conn, origin: origin, cut: cut,
		out: make(chan any, backlog), over: make(chan struct{}), fed: make(chan struct{}),
		sends:  rate.NewLimiter(rate.Limit(s.cfg.Rate), s.cfg.Burst),
		frames: rate.NewLimiter(frameRate, frameBurst),
		reads:  newReadMark(),
	}
	k.bye = func() { k.finish(hard) }
	return k
}

// run serves the socket until it has ended. The end of hard cuts the connection.
func (k *socket) run(hard context.Context) {
	ctx, cancel := context.WithCancel(hard)
	defer cancel()
	late := time.AfterFunc(k.cfg.Hello, func() { k.end(closeSlow, "no hello in time") })
	if k.conn.Subprotocol() != subprotocol {
		k.end(closeBadFrame, "the subprotocol must be "+subprotocol)
	}
	if data, ok := k.read(ctx); ok && k.greet(ctx, data) {
		late.Stop()
		for ok {
			if data, ok = k.read(ctx); ok {
				k.obey(ctx, data)
			}
		}
		k.typed(false)
	}
	late.Stop()
	k.end(0, "")
	cancel()
	k.wg.Wait()
	k.log.Debug().Str("tenant", k.tenant.Name).Str("session", k.session).Int("code", int(k.code)).Msg("socket closed")
}

// read returns the next frame; false ends the reader.
func (k *socket) read(ctx context.Context) ([]byte, bool) {
	select {
	case <-k.over:
		return nil, false
	default:
	}
	kind, r, err := k.conn.Reader(ctx)
	if err != nil {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFrame+1))
	switch {
	case err != nil:
		return nil, false
	case len(data) > maxFrame:
		k.end(closeBadFrame, "a frame holds at most 64 KiB")
	case kind != websocket.MessageText:
		k.end(closeBadFrame, "frames must be text")
	case !k.frames.Allow():
		k.end(closeTooMany, "too many frames")
	default:
		return data, true
	}
	return nil, false
}

// push hands a frame to the feed, which writes it, and waits for room; false: the socket
// is ending.
func (k *socket) push(frame any) bool {
	select {
	case k.out <- frame:
		return true
	case <-k.over:
		return false
	}
}

// end begins the end: the connection is closed, which ends the reader. The first caller's
// code counts.
func (k *socket) end(code websocket.StatusCode, reason string) {
	k.once.Do(func() {
		k.code, k.reason = code, reason
		close(k.over)
		k.wg.Go(k.bye)
	})
}

// goAway tells the client to come back at a moment of its own within a time, and ends.
func (k *socket) goAway(within time.Duration) {
	select {
	case k.out <- goawayFrame{Type: "goaway", AfterMS: within.Milliseconds()}:
	default:
		// Its queue is full: the close code alone says the same.
	}
	k.end(closeShutdown, "shutting down")
}

// write writes one frame; false ends the socket: after a time-out nothing more can be
// written, because half a frame may have left.
func (k *socket) write(ctx context.Context, frame any) bool {
	data, err := json.Marshal(frame)
	if err != nil {
		k.log.Error().Err(err).Msg("frame was not written")
		k.end(0, "")
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, k.cfg.Write)
	defer cancel()
	if k.conn.Write(ctx, websocket.MessageText, data) != nil {
		k.end(0, "")
		return false
	}
	return true
}

// finish writes what still waits and closes the connection. A client that is too slow
// gets the rest when it resumes.
func (k *socket) finish(ctx context.Context) {
	defer func() { _ = k.conn.CloseNow() }()
	if k.code == 0 {
		return
	}
	if k.feeds.Load() {
		<-k.fed // it may have a frame in hand that comes before the rest
	}
	for more := k.code != closeSlow; more; {
		select {
		case frame := <-k.out:
			if !k.write(ctx, frame) {
				return
			}
		default:
			more = false
		}
	}
	_ = k.conn.Close(k.code, k.reason)
}

// ping asks for a sign of life. A browser answers by itself.
func (k *socket) ping(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, min(k.cfg.Ping, 2*k.cfg.Write))
	defer cancel()
	if k.conn.Ping(ctx) != nil {
		k.end(closeSlow, "no answer to a ping")
	}
}
