//go:build !race

package api

import (
	"context"
	"encoding/json"
	"net"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"
)

// idlers is how many sockets are open while their memory is weighed.
func idlers(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("SLUICE_SOCKETS")); err == nil {
		return n
	}
	return 400
}

// TestAnIdleSocketCostsLittleMoreThanABareOne weighs sockets after their welcome against
// as many of a server that only accepts and reads, with the same library, in the same
// run. It is not parallel, so that nothing else is weighed.
func TestAnIdleSocketCostsLittleMoreThanABareOne(t *testing.T) {
	r := newSocketRig(t, SocketConfig{})
	hello, err := json.Marshal(r.greeting(nil))
	must(t, err)
	n := idlers(t)
	var bare, ours uint64
	weigh(t, 50, bareServer(t), hello) // what is there once
	weigh(t, 50, r.url, hello)
	bare = weigh(t, n, bareServer(t), hello)
	ours = weigh(t, n, r.url, hello)
	ratio := float64(ours) / float64(bare)
	t.Logf("%d idle sockets: %d bytes each, bare ones %d: %.2f of it", n, ours, bare, ratio)
	if ratio > 1.5 {
		t.Errorf("an idle socket takes %d bytes, a bare one %d", ours, bare)
	}
}

// weigh returns what each of n sockets takes, both ends together.
func weigh(t *testing.T, n int, url string, hello []byte) uint64 {
	t.Helper()
	before := inUse()
	var conns []net.Conn
	for range n {
		conns = append(conns, rawSocket(t, url, hello))
	}
	after := inUse()
	for _, c := range conns {
		_ = c.Close()
	}
	return (after - before) / uint64(n)
}

// bareServer accepts, reads, and answers with what it reads.
func bareServer(t *testing.T) string {
	t.Helper()
	var open sync.WaitGroup
	e := echo.New()
	e.GET("/v1/chat", func(c echo.Context) error {
		open.Add(1)
		defer open.Done()
		conn, err := websocket.Accept(c.Response(), c.Request(), &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
		if err != nil {
			return nil
		}
		defer func() { _ = conn.CloseNow() }()
		for {
			kind, data, err := conn.Read(c.Request().Context())
			if err != nil {
				return nil
			}
			if conn.Write(context.Background(), kind, data) != nil {
				return nil
			}
		}
	})
	srv := httptest.NewServer(e)
	t.Cleanup(func() { srv.Close(); open.Wait() })
	return "ws" + strings.TrimPrefix(srv.URL, "http") + "/v1/chat"
}
