package queuetest

import (
	"bufio"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Relay stands between clients and a server, and can claim another version for it. It is
// safe for concurrent use.
type Relay struct {
	Addr    string          // for clients
	Dialed  <-chan struct{} // one for each connection of a client, the first 1,000
	backend string
	running sync.WaitGroup

	mu      sync.Mutex
	version string // claimed for the server; empty: its own
	conns   map[net.Conn]bool
	closed  bool
}

// NewRelay relays to a server's address until the test ends.
func NewRelay(t testing.TB, backend string) *Relay {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dialed := make(chan struct{}, 1000)
	r := &Relay{Addr: listener.Addr().String(), Dialed: dialed, backend: backend, conns: map[net.Conn]bool{}}
	r.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			select {
			case dialed <- struct{}{}:
			default:
			}
			r.running.Go(func() { r.relay(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		r.mu.Lock()
		r.closed = true
		r.mu.Unlock()
		r.Cut()
		r.running.Wait()
	})
	return r
}

// Claim makes the server say another version to whoever connects from now on.
func (r *Relay) Claim(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = version
}

// Cut ends all connections; new ones are relayed.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.conns {
		_ = conn.Close()
	}
}

// hold lets Cut know of a connection, or closes it after the end.
func (r *Relay) hold(conn net.Conn) (version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = conn.Close()
	}
	r.conns[conn] = true
	return r.version
}

func (r *Relay) drop(conn net.Conn) {
	_ = conn.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
}

func (r *Relay) relay(client net.Conn) {
	version := r.hold(client)
	defer r.drop(client)
	server, err := net.Dial("tcp", r.backend)
	if err != nil {
		return
	}
	r.hold(server)
	defer r.drop(server)
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	if version == "" {
		_, _ = io.Copy(client, server)
	} else {
		claim(client, server, version)
	}
	_ = client.Close()
	up.Wait()
}

var versionField = regexp.MustCompile(`"version":"[^"]*"`)

// claim hands a server's lines on with another version where it speaks about itself.
func claim(client, server net.Conn, version string) {
	lines := bufio.NewReader(server)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if strings.HasPrefix(line, "INFO ") {
			line = versionField.ReplaceAllString(line, `"version":"`+version+`"`)
		}
		if _, err := io.WriteString(client, line); err != nil {
			return
		}
	}
}
