package badnet

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy carries TCP connections to a server, and those of chat sockets badly: it delays what
// passes, cuts connections in the middle of a frame, lets one direction go deaf, and, where
// the client asks for "?again", opens a second connection that says all that the first one
// does. Everything else that is asked of it passes as it is. It is safe for concurrent use.
type Proxy struct {
	server string
	mean   time.Duration
	listen net.Listener

	mu    sync.Mutex // guards what follows
	conns map[net.Conn]struct{}
	over  bool
	tally map[string]int
	wg    sync.WaitGroup
}

// deafFor is how long a connection stays open after one direction went deaf.
const deafFor = 15 * time.Second

// Start carries connections to a server's address until the test ends. The fault of a
// socket comes after mean on average.
func Start(t testing.TB, server string, mean time.Duration) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: strings.TrimPrefix(server, "http://"), mean: mean, listen: l, conns: map[net.Conn]struct{}{}, tally: map[string]int{}}
	p.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.carry(conn) })
		}
	})
	t.Cleanup(p.Stop)
	return p
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listen.Addr().String() }

// Faults returns how many faults of each kind have come to pass.
func (p *Proxy) Faults() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.tally)
}

// Stop cuts every connection and takes no more. It may be called more than once.
func (p *Proxy) Stop() {
	_ = p.listen.Close()
	p.mu.Lock()
	p.over = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// keep remembers a connection, so that Stop ends it; false: too late.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		_ = c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close()
}

func (p *Proxy) count(fault string) {
	p.mu.Lock()
	p.tally[fault]++
	p.mu.Unlock()
}

// fault is what becomes of one connection, once at has come.
type fault struct {
	kind string // cut, deaf server, deaf client
	at   time.Time
}

// pipe is one way of a connection. deaf: what comes is read and goes nowhere.
type pipe struct {
	from, to net.Conn
	twin     net.Conn // hears the same; nil: none
	fault    fault
	deaf     bool
	most     int // bytes that pass before it is cut; 0: the fault alone decides
}

// carry carries a connection until it ends.
func (p *Proxy) carry(client net.Conn) {
	if !p.keep(client) {
		return
	}
	defer p.drop(client)
	server, err := p.dial()
	if err != nil {
		return
	}
	defer p.drop(server)
	first := make([]byte, 4096)
	_ = client.SetReadDeadline(time.Now().Add(deafFor))
	n, err := client.Read(first)
	if err != nil {
		return
	}
	_ = client.SetReadDeadline(time.Time{})
	if !bytes.HasPrefix(first, []byte("GET /v1/chat")) {
		if _, err := server.Write(first[:n]); err == nil {
			both(client, server)
		}
		return
	}
	var twin net.Conn
	if bytes.Contains(first[:n], []byte("?again")) && rand.IntN(4) == 0 {
		if twin, err = p.dial(); err != nil {
			return
		}
		p.count("doubled")
		defer p.drop(twin)
		_, _ = twin.Write(first[:n])
		// What it is told is read and goes nowhere.
		p.wg.Go(func() { drain(twin) })
	}
	if _, err := server.Write(first[:n]); err != nil {
		return
	}
	f := fault{at: time.Now().Add(time.Duration(rand.ExpFloat64() * float64(p.mean)))}
	switch roll := rand.IntN(10); {
	case roll < 6:
		f.kind = "cut"
	case roll < 8:
		f.kind = "deaf server"
	default:
		f.kind = "deaf client"
	}
	most := 0
	if f.kind == "cut" && rand.IntN(2) == 0 {
		most = 400 + rand.IntN(4000) // in the middle of an answer, as a rule
	}
	var ways sync.WaitGroup
	for _, way := range []pipe{
		{from: client, to: server, twin: twin, fault: f, deaf: f.kind == "deaf server"},
		{from: server, to: client, fault: f, deaf: f.kind == "deaf client", most: most},
	} {
		ways.Go(func() {
			defer func() { _ = client.Close(); _ = server.Close() }()
			p.pass(way)
		})
	}
	ways.Wait()
}

func (p *Proxy) dial() (net.Conn, error) {
	c, err := net.Dial("tcp", p.server)
	if err == nil && !p.keep(c) {
		return nil, net.ErrClosed
	}
	return c, err
}

// pass passes one way on until it ends, or its fault has come to pass.
func (p *Proxy) pass(w pipe) {
	buf := make([]byte, 2048)
	end := w.fault.at
	if w.fault.kind != "cut" {
		end = end.Add(deafFor)
	}
	_ = w.from.SetReadDeadline(end)
	told, passed := false, 0
	for {
		n, err := w.from.Read(buf)
		late := !time.Now().Before(w.fault.at)
		if err != nil {
			if late && !told {
				p.count(w.fault.kind)
			}
			return
		}
		if passed += n; w.most > 0 && passed > w.most {
			p.count("cut at a byte")
			_, _ = w.to.Write(buf[:n-(passed-w.most)])
			return
		}
		if late && w.deaf {
			if !told {
				p.count(w.fault.kind)
				told = true
			}
			continue
		}
		hold(time.Duration(rand.IntN(20)) * time.Millisecond)
		if w.twin != nil {
			_, _ = w.twin.Write(buf[:n])
		}
		if _, err := w.to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// both passes all on, both ways, until one of them ends.
func both(a, b net.Conn) {
	var ways sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		ways.Go(func() {
			defer func() { _ = a.Close(); _ = b.Close() }()
			_, _ = io.Copy(way[0], way[1]) // its end is the connection's
		})
	}
	ways.Wait()
}

// hold keeps what passes back for a moment.
func hold(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

func drain(c net.Conn) {
	buf := make([]byte, 4096)
	for {
		if _, err := c.Read(buf); err != nil {
			return
		}
	}
}
