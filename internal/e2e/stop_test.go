//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// TestATermFinishesWhatRunsAndLeavesTheRest stops the process in the middle of its
// answers: those that run end, the others are answered by the next process.
func TestATermFinishesWhatRunsAndLeavesTheRest(t *testing.T) {
	i := start(t, setup{rules: patientRules})
	i.behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "3s"}})
	chat := i.chat()
	asked := make([]ticket, 2*permits)
	each(len(asked), 16, func(k int) {
		asked[k] = i.ask(question{Message: fmt.Sprintf("Where is my parcel %d?", k), Lane: "normal"})
	})
	await(t, 10*time.Second, "all permits are taken", func() bool { return i.stats().InFlight == permits })

	goaway := make(chan error, 1)
	go func() { goaway <- chat.untilGone() }()
	i.signal(t, syscall.SIGTERM)
	var refusal error
	await(t, time.Second, "intake is closed", func() bool {
		_, refusal = i.submit(question{Message: "Is anybody there?"}, "")
		return refusal != nil
	})
	refused(t, refusal, http.StatusServiceUnavailable, "draining")
	i.leave() // with all calls under way
	if err := <-goaway; err != nil {
		t.Error(err)
	}

	next := start(t, setup{dir: i.dir})
	finished := 0
	for k := range asked {
		now, err := next.ticket(asked[k].TicketID)
		if err != nil {
			t.Fatal(err)
		}
		if now.ended() && now.EndedAt.Before(next.begun) {
			finished++
		}
	}
	if finished < permits || finished == len(asked) {
		t.Errorf("%d of %d answers ended before the stop, want the %d that ran", finished, len(asked), permits)
	}
	each(len(asked), 32, func(k int) {
		got := next.end(asked[k].TicketID, time.Minute)
		if got.Status != "answered" || got.Route != "agent" || got.Attempts != 1 {
			t.Errorf("ticket %s ended %s by %s (%s) in %d attempts, want an answer of the agent in one",
				got.TicketID, got.Status, got.Route, got.Reason, got.Attempts)
		}
		next.checkTold(got.SessionID, got)
	})
}

// TestASecondTermEndsAtOnce does not wait for vendors that never answer.
func TestASecondTermEndsAtOnce(t *testing.T) {
	i := start(t, setup{rules: patientRules})
	i.behave(map[string]any{"hang_share": 1})
	asked := i.ask(question{Message: "Where is my parcel?"})
	await(t, 5*time.Second, "the vendor is asked", func() bool { return i.stats().InFlight == 1 })
	i.signal(t, syscall.SIGTERM)
	await(t, 5*time.Second, "the process drains", func() bool {
		var p *problem
		_, err := i.submit(question{Message: "Is anybody there?"}, "")
		return errors.As(err, &p) && p.Code == "draining"
	})
	begun := time.Now()
	i.signal(t, syscall.SIGTERM)
	if code := i.exit(t, time.Second); code == 0 {
		t.Error("exit code 0, want another: the stop was cut short")
	}
	t.Logf("ended %s after the second signal", time.Since(begun).Round(time.Microsecond))

	next := start(t, setup{dir: i.dir})
	if got := next.end(asked.TicketID, 20*time.Second); got.Route != "agent" || got.Attempts != 2 {
		t.Errorf("%+v, want an answer of the agent in the second attempt", got)
	}
}

// socket is a client of the chat socket.
type socket struct {
	conn *websocket.Conn
	ctx  context.Context
}

// chat opens a socket and says hello.
func (i *instance) chat() *socket {
	i.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	i.t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(i.base, "http")+"/v1/chat",
		&websocket.DialOptions{HTTPClient: i.http, Subprotocols: []string{"sluice.v1"}})
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { _ = conn.CloseNow() })
	s := &socket{conn: conn, ctx: ctx}
	if err := wsjson.Write(ctx, conn, map[string]string{"type": "hello", "key": publishableKey}); err != nil {
		i.t.Fatal(err)
	}
	if kind, err := s.next(); err != nil || kind != "welcome" {
		i.t.Fatalf("the answer to a hello is %q (%v), want a welcome", kind, err)
	}
	return s
}

// next returns the type of the next frame.
func (s *socket) next() (string, error) {
	var frame struct {
		Type string `json:"type"`
	}
	err := wsjson.Read(s.ctx, s.conn, &frame)
	return frame.Type, err
}

// untilGone reads until the server has sent goaway and closed the socket.
func (s *socket) untilGone() error {
	told := false
	for {
		kind, err := s.next()
		switch {
		case err == nil:
			told = told || kind == "goaway"
		case !told:
			return fmt.Errorf("the socket ended without a goaway: %w", err)
		case websocket.CloseStatus(err) != 4001:
			return fmt.Errorf("the socket was closed with %w, want 4001", err)
		default:
			return nil
		}
	}
}
