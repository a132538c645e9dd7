//go:build cluster

package e2e

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// wire is a TCP proxy that can be cut: then nothing passes in either direction, and
// nobody is told, as when a network falls apart.
type wire struct {
	target string
	port   net.Listener
	cut    atomic.Bool
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func newWire(t *testing.T, target string) *wire {
	t.Helper()
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{target: target, port: port}
	w.wg.Go(w.serve)
	t.Cleanup(func() {
		_ = port.Close()
		w.mu.Lock()
		for _, c := range w.conns {
			_ = c.Close()
		}
		w.mu.Unlock()
		w.wg.Wait()
	})
	return w
}

func (w *wire) serve() {
	for {
		near, err := w.port.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, near, far)
		w.mu.Unlock()
		w.wg.Go(func() { w.pass(near, far) })
		w.wg.Go(func() { w.pass(far, near) })
	}
}

// pass hands bytes on; those that come while the wire is cut are lost.
func (w *wire) pass(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 32<<10)
	lost := false
	for {
		n, err := from.Read(buf)
		lost = lost || w.cut.Load()
		if lost && !w.cut.Load() {
			return // a stream with a hole in it is of no use
		}
		if !lost {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err == io.EOF && lost {
				poll(time.Minute, func() bool { return !w.cut.Load() })
			}
			return
		}
	}
}

// TestADispatcherIsCutOffFromTheCluster for 20 s in the middle of its calls. The others
// take its jobs over; it ends its own calls and answers nothing twice.
func TestADispatcherIsCutOffFromTheCluster(t *testing.T) {
	const n = 700
	c := startCluster(t)
	var wires []*wire
	var urls []string
	for _, b := range c.configs {
		w := newWire(t, fmt.Sprintf("127.0.0.1:%d", b.Client))
		wires, urls = append(wires, w), append(urls, "nats://"+w.port.Addr().String())
	}
	p := c.start("api", "api", "dispatcher")
	lonely := c.ready(c.launch("dispatcher", "SLUICE_NATS_URL="+strings.Join(urls, ",")))
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "2s"}})
	crowd := newCrowd(t, "cut", n/3, p[0], p[1])
	var all []ticket
	done := make(chan struct{})
	go func() {
		defer close(done)
		all = crowd.ask(n, 50*time.Millisecond)
	}()
	await(t, 30*time.Second, "calls are under way", func() bool { return p[0].stats().InFlight > 30 })
	for _, w := range wires {
		w.cut.Store(true)
	}
	poll(20*time.Second, func() bool { return false })
	for _, w := range wires {
		w.cut.Store(false)
	}
	await(t, 20*time.Second, "it finds the cluster again", func() bool {
		return lonely.call(call{url: "/readyz"}, nil) == nil
	})
	<-done
	crowd.check(all)
	c.within(p[0], quotas())
	lonely.stop()
}
