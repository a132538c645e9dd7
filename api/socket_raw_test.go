package api

import (
	"bufio"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// inUse returns what heap and stacks take, once everything that can be freed is.
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
