package drill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/chat"
)

// guest is a customer who stays: one session on sockets that come and go, a message each
// pause, and everything said again that was not acknowledged, as the widget does it.
type guest struct {
	base   string
	tenant tenant
	name   string
	pause  time.Duration
	rng    *rand.Rand

	session, token string
	seen           uint64            // seq of the newest event
	owed           map[string]string // cmid → text: sent, and not acknowledged
	asked          map[string]int    // ticket → its customer's messages in the session
	ended          map[string]int    // ticket → its final events
	sent           int
	sockets        int
	faults         []string
	goaway         time.Duration // how long to stay away
}

func newGuest(base string, t tenant, n int, pause time.Duration) *guest {
	return &guest{
		base: base, tenant: t, name: strconv.Itoa(n), pause: pause, rng: rand.New(rand.NewPCG(uint64(n), 0x6e57)),
		owed: map[string]string{}, asked: map[string]int{}, ended: map[string]int{},
	}
}

// stay talks until `until`, and then waits until all that it asked has been answered, at
// most until ctx ends.
func (g *guest) stay(ctx context.Context, until time.Time) {
	for ctx.Err() == nil && !g.content(until) {
		if err := g.talk(ctx, until); err != nil && ctx.Err() == nil {
			g.fault("%v", err)
		}
		away := time.Duration(g.rng.Int64N(int64(g.goaway + 50*time.Millisecond)))
		if sleep(ctx, away) != nil {
			return
		}
		g.goaway = 0
	}
}

func (g *guest) fault(format string, args ...any) {
	if len(g.faults) < 10 {
		g.faults = append(g.faults, "guest "+g.name+": "+fmt.Sprintf(format, args...))
	}
}

// content reports whether the guest has nothing more to say or to wait for.
func (g *guest) content(until time.Time) bool {
	return time.Now().After(until) && len(g.owed) == 0 && len(g.asked) == g.sent && len(g.ended) == g.sent
}

// talk is one socket's life. That it ends to be opened elsewhere is no error.
func (g *guest) talk(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(g.base, "http")+"/v1/chat", &websocket.DialOptions{
		Subprotocols: []string{"sluice.v1"}, HTTPHeader: http.Header{"Origin": {origin}},
	})
	if err != nil {
		return fmt.Errorf("open the socket: %w", err)
	}
	g.sockets++
	conn.SetReadLimit(maxFrame)
	defer func() { _ = conn.CloseNow() }() // closed already, or the stay is over
	hello := map[string]any{"type": "hello", "key": g.tenant.Publishable}
	if g.session != "" {
		hello["session"], hello["token"], hello["after"] = g.session, g.token, g.seen
	}
	if err := write(ctx, conn, hello); err != nil {
		return err
	}
	frames := make(chan guestFrame, 64)
	cut := make(chan error, 1)
	go func() { cut <- g.hear(ctx, conn, frames) }()
	err = g.converse(ctx, conn, frames, until)
	cancel()
	ended := <-cut
	if errors.Is(err, errCut) {
		switch status := websocket.CloseStatus(ended); {
		case status >= 4000 && status < 4500:
			return nil // come again
		default:
			return fmt.Errorf("the socket ended: %w", ended)
		}
	}
	return err
}

// guestFrame is what a guest reads of a frame.
type guestFrame struct {
	Type      string `json:"type"`
	Session   string `json:"session"`
	Token     string `json:"token"`
	Recovered *bool  `json:"recovered"`
	CMID      string `json:"cmid"`
	Code      string `json:"code"`
	AfterMS   int64  `json:"after_ms"`
	chat.Event
}

// hear hands on the frames until the socket ends, and says how it did.
func (g *guest) hear(ctx context.Context, conn *websocket.Conn, frames chan<- guestFrame) error {
	defer close(frames)
	for {
		_, raw, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var f guestFrame
		if err := json.Unmarshal(raw, &f); err != nil {
			return fmt.Errorf("decode frame: %w", err)
		}
		select {
		case frames <- f:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// converse says what is owed, then a message each pause, and takes what comes.
func (g *guest) converse(ctx context.Context, conn *websocket.Conn, frames <-chan guestFrame, until time.Time) error {
	next := time.NewTicker(g.pause)
	defer next.Stop()
	welcome := false
	for {
		select {
		case f, open := <-frames:
			if !open {
				return errCut
			}
			if f.Type == "welcome" {
				welcome = true
				if f.Recovered != nil && !*f.Recovered && g.session != "" {
					g.fault("its session was not recovered")
				}
				g.session, g.token = f.Session, f.Token
				for cmid, text := range g.owed {
					if err := write(ctx, conn, map[string]any{"type": "send", "cmid": cmid, "text": text}); err != nil {
						return err
					}
				}
			}
			g.take(f)
		case <-next.C:
			if g.content(until) {
				return nil
			}
			if !welcome || time.Now().After(until) || len(g.owed) > 0 {
				continue
			}
			g.sent++
			cmid, text := strconv.Itoa(g.sent), fmt.Sprintf("Where is parcel %s-%d?", g.name, g.sent)
			g.owed[cmid] = text
			if err := write(ctx, conn, map[string]any{"type": "send", "cmid": cmid, "text": text}); err != nil {
				return errCut // how it ended, the reader knows
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take notes what a frame says.
func (g *guest) take(f guestFrame) {
	switch f.Type {
	case "ack":
		delete(g.owed, f.CMID)
	case "error":
		g.fault("was told %s", f.Code)
	case "goaway":
		g.goaway = time.Duration(f.AfterMS) * time.Millisecond
	case "event":
		if f.Seq != g.seen+1 {
			g.fault("event %d came after %d", f.Seq, g.seen)
		}
		g.seen = f.Seq
		switch {
		case f.Who == chat.ByCustomer:
			g.asked[f.Ticket]++
		case f.Status.Ended():
			g.ended[f.Ticket]++
		}
	}
}

// missed returns how many of its messages were not stored or not ended, and how many more
// than once.
func (g *guest) missed() (lost, twice int) {
	lost = g.sent - len(g.asked) + g.sent - len(g.ended)
	for _, counts := range []map[string]int{g.asked, g.ended} {
		for _, n := range counts {
			twice += n - 1
		}
	}
	return max(lost, 0), twice + max(0, len(g.asked)-g.sent)
}
