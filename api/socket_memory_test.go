//go:build !race

package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

func inUse() uint64 {
	for range 3 {
		runtime.GC()
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// rawSocket opens a socket with no more on this side than a connection, and reads its
// first answer.
func rawSocket(t *testing.T, url string, hello []byte) net.Conn {
	t.Helper()
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "ws://"), "/")
	conn, err := net.Dial("tcp", host)
	must(t, err)
	must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = conn.Write([]byte("GET /" + path + " HTTP/1.1\r\nHost: " + host + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: " + subprotocol + "\r\n\r\n"))
	must(t, err)
	from := bufio.NewReaderSize(conn, 2048)
	res, err := http.ReadResponse(from, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("handshake: %v, %v", res, err)
	}
	// A mask of zeroes leaves the text as it is.
	_, err = conn.Write(append([]byte{0x81, 0x80 | 126, byte(len(hello) >> 8), byte(len(hello)), 0, 0, 0, 0}, hello...))
	must(t, err)
	head := make([]byte, 2)
	if _, err = from.Read(head); err != nil || head[0] != 0x81 {
		t.Fatalf("no answer to the hello: %x, %v", head, err)
	}
	return conn
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
