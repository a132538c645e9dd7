package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

const (
	openFor     = 30 * time.Second       // until the welcome
	writeFor    = 10 * time.Second       // of one frame
	openTries   = 6                      // without a welcome in between
	openAgain   = 200 * time.Millisecond // doubled with each try, up to
	longestTry  = 5 * time.Second
	mostFrame   = 1 << 20
	closedToAll = 4500 // close codes from here on: do not come back
)

// errLeft says that a socket was closed by the load itself.
var errLeft = errors.New("the load is over")

// live opens the socket, talks, and comes back when the connection is lost, until the load
// is over.
func (k *talker) live(ctx context.Context) {
	defer k.arrive()
	defer k.settle(true)
	for try := 0; try < openTries && !k.dismissed(); try++ {
		frames, err := k.open(ctx)
		if err == nil {
			try = 0
			err = k.talk(ctx, frames)
			k.close(frames, errors.Is(err, errLeft))
		}
		if errors.Is(err, errLeft) || ctx.Err() != nil {
			return
		}
		k.tally.closed(err)
		if websocket.CloseStatus(err) >= closedToAll || !pause(ctx, time.Duration((0.5+k.rng.Float64())*float64(min(openAgain<<try, longestTry)))) {
			break
		}
	}
	k.gone = !k.dismissed()
}

// dismissed reports whether all are to go.
func (k *talker) dismissed() bool {
	select {
	case <-k.leave:
		return true
	default:
		return false
	}
}

// arrive says once that the socket is open, or never will be.
func (k *talker) arrive() {
	if !k.there {
		k.there = true
		k.arrived.Done()
	}
}

// open dials, says hello and hears the welcome.
func (k *talker) open(ctx context.Context) (frames chan frame, err error) {
	limited, cancel := context.WithTimeout(ctx, openFor)
	defer cancel()
	begun := time.Now()
	conn, res, err := websocket.Dial(limited, k.url, &websocket.DialOptions{
		HTTPClient: k.client.http, Subprotocols: []string{subprotocol}, HTTPHeader: http.Header{"Origin": {k.target.Origin}},
	})
	if err != nil {
		if res != nil && res.StatusCode != http.StatusSwitchingProtocols {
			return nil, &refusal{status: res.StatusCode, code: fmt.Sprintf("http_%d", res.StatusCode)}
		}
		return nil, fmt.Errorf("open the socket: %w", err)
	}
	conn.SetReadLimit(mostFrame)
	hello := map[string]any{"type": "hello", "key": k.target.Keys[k.n%len(k.target.Keys)]}
	if k.session != "" {
		hello["session"], hello["token"], hello["after"] = k.session, k.token, k.heard.seq
	}
	var f frame
	if err = write(limited, conn, hello); err == nil {
		f, err = welcome(limited, conn)
	}
	if err != nil {
		_ = conn.CloseNow()
		return nil, err
	}
	if k.welcomed {
		k.tally.reopened(f.Recovered)
	} else {
		k.tally.opened(time.Since(begun))
		k.welcomed, k.session, k.token = true, f.Session, f.Token
		k.arrive()
	}
	k.conn, frames = conn, make(chan frame)
	k.counts.open.Add(1)
	k.readers.Go(func() { k.hear(ctx, conn, frames) })
	for i := k.first; i < len(k.said); i++ {
		if s := &k.said[i]; !s.acked && !s.over() {
			s.again = time.Now()
		}
	}
	return frames, nil
}

func welcome(ctx context.Context, conn *websocket.Conn) (f frame, err error) {
	_, raw, err := conn.Read(ctx)
	if err != nil {
		return f, err
	}
	f, _, err = decodeFrame(raw)
	if err == nil && (f.Type != "welcome" || f.Session == "" && f.Token == "") {
		err = errors.New("the first frame is no welcome")
	}
	return f, err
}

// hear hands on what comes until the connection ends.
func (k *talker) hear(ctx context.Context, conn *websocket.Conn, frames chan<- frame) {
	defer close(frames)
	for {
		_, raw, err := conn.Read(ctx)
		f, wanted := frame{}, false
		if err == nil {
			f, wanted, err = decodeFrame(raw)
		}
		if err != nil {
			frames <- frame{Type: cut, err: err}
			return
		}
		if wanted {
			frames <- f
		}
	}
}

// close ends the connection and its reader. Nothing more is wanted of them.
func (k *talker) close(frames <-chan frame, politely bool) {
	k.counts.open.Add(-1)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for range frames {
		}
	}()
	if politely {
		_ = k.conn.Close(websocket.StatusNormalClosure, "")
	}
	_ = k.conn.CloseNow()
	<-drained
}

func write(ctx context.Context, conn *websocket.Conn, f map[string]any) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, writeFor)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, raw); err != nil {
		return fmt.Errorf("write to the socket: %w", err)
	}
	return nil
}

// socketURL returns the address of the sockets of an instance.
func socketURL(base string) string {
	return "ws" + strings.TrimPrefix(strings.TrimRight(base, "/"), "http") + "/v1/chat"
}
