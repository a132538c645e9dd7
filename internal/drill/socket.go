package drill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/chat"
)

const (
	connectEarly = 300 * time.Millisecond // before the message: a page opens its socket when it is shown
	visitFor     = 20 * time.Second       // the longest visit
	maxFrame     = 1 << 20
)

// frame is what a customer reads of the socket's frames.
type frame struct {
	Type   string      `json:"type"`
	Code   string      `json:"code"`
	Ticket string      `json:"ticket"`
	Status chat.Status `json:"status"`
	Route  chat.Route  `json:"route"`
	Reason chat.Reason `json:"reason"`
	Text   string      `json:"text"`
}

// visitor is a customer on a chat socket of the instance.
type visitor struct {
	base   string
	tenant tenant
	visit
}

// come opens a socket, asks at the customer's time after begun and waits for the answer, as
// long as the patience lasts.
func (v *visitor) come(ctx context.Context, begun time.Time) {
	ctx, cancel := context.WithTimeout(ctx, visitFor+v.at)
	defer cancel()
	if v.fault = sleep(ctx, time.Until(begun.Add(v.at-connectEarly))); v.fault != nil {
		return
	}
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(v.base, "http")+"/v1/chat", &websocket.DialOptions{
		Subprotocols: []string{"sluice.v1"}, HTTPHeader: http.Header{"Origin": {origin}},
	})
	if err != nil {
		v.fault = fmt.Errorf("open the socket: %w", err)
		return
	}
	conn.SetReadLimit(maxFrame)
	frames := make(chan frame, 64)
	var reading sync.WaitGroup
	var cut error
	reading.Go(func() { cut = hear(ctx, conn, frames) })
	v.fault = v.ask(ctx, conn, frames, begun)
	_ = conn.Close(websocket.StatusNormalClosure, "") // the visit is over
	for range frames {
	}
	reading.Wait()
	if errors.Is(v.fault, errCut) {
		v.fault = fmt.Errorf("%w: %w", errCut, cut)
	}
}

// hear hands on the frames until the socket ends, and says how it did.
func hear(ctx context.Context, conn *websocket.Conn, frames chan<- frame) error {
	defer close(frames)
	for {
		_, raw, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var f frame
		if json.Unmarshal(raw, &f) == nil {
			frames <- f
		}
	}
}

var errCut = errors.New("the socket ended in the middle of the visit")

// ask says hello and sends the message at its time.
func (v *visitor) ask(ctx context.Context, conn *websocket.Conn, frames <-chan frame, begun time.Time) error {
	if err := write(ctx, conn, map[string]any{"type": "hello", "key": v.tenant.Publishable}); err != nil {
		return err
	}
	if f, open := <-frames; !open || f.Type != "welcome" {
		return errCut
	}
	if err := sleep(ctx, time.Until(begun.Add(v.at))); err != nil {
		return err
	}
	sent := time.Now()
	if err := write(ctx, conn, map[string]any{"type": "send", "cmid": "1", "text": v.text}); err != nil {
		return err
	}
	patience := time.NewTimer(v.patience)
	defer patience.Stop()
	for {
		select {
		case f, open := <-frames:
			if !open {
				return errCut
			}
			if v.take(f, time.Since(sent)) {
				return nil
			}
			if v.left && v.ticket != "" {
				return v.cancel(ctx, conn)
			}
		case <-patience.C:
			if v.first > 0 {
				continue // the answer is being written
			}
			v.left = true
			if v.ticket != "" {
				return v.cancel(ctx, conn)
			}
		}
	}
}

// take notes what a frame says and reports whether the visit is over.
func (v *visitor) take(f frame, after time.Duration) (over bool) {
	switch {
	case f.Type == "ack":
		v.ticket, v.acked = f.Ticket, after
	case f.Type == "error":
		v.code = f.Code
		return true
	case v.left:
	case f.Type == "delta" && v.first == 0:
		v.first = after
	case f.Type == "event" && f.Status.Ended():
		v.ended, v.reason = after, f.Reason
		v.vendor = f.Status == chat.Answered && f.Route == chat.RouteAgent
		if v.first == 0 {
			v.first = after
		}
		return true
	}
	return false
}

// cancel takes the message back: the customer goes.
func (v *visitor) cancel(ctx context.Context, conn *websocket.Conn) error {
	return write(ctx, conn, map[string]any{"type": "cancel", "ticket": v.ticket})
}

func write(ctx context.Context, conn *websocket.Conn, f map[string]any) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	if err := conn.Write(ctx, websocket.MessageText, raw); err != nil {
		return fmt.Errorf("write to the socket: %w", err)
	}
	return nil
}
