//go:build cluster

package e2e

import (
	"fmt"
	"io"
	"net"
	"os"
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

// cutOff is a cluster, and how one dispatcher is parted from it.
type cutOff struct {
	t         *testing.T
	c         *cluster
	launch    func() *instance
	cut, heal func()
	silent    bool // the vendors do not learn that its calls have ended
}

// fromNATS leaves the dispatcher its vendors: proxies stand only before the NATS nodes.
func fromNATS(t *testing.T) *cutOff {
	t.Helper()
	c := startCluster(t)
	var wires []*wire
	var urls []string
	for _, b := range c.configs {
		w := newWire(t, fmt.Sprintf("%s:%d", b.Host, b.Client))
		wires, urls = append(wires, w), append(urls, "nats://"+w.port.Addr().String())
	}
	all := func(cut bool) {
		for _, w := range wires {
			w.cut.Store(cut)
		}
	}
	return &cutOff{
		t: t, c: c, cut: func() { all(true) }, heal: func() { all(false) },
		launch: func() *instance { return c.launch("dispatcher", "SLUICE_NATS_URL="+strings.Join(urls, ",")) },
	}
}

// fromEverything gives the dispatcher a network of its own. Where the machine permits
// none, it is parted from NATS, except in CI.
func fromEverything(t *testing.T) *cutOff {
	t.Helper()
	n, err := openNamespace(t)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("no network namespace (run as root, with iproute2 and a kernel that has veth and bridge): %v", err)
	}
	if err != nil {
		t.Logf("no network namespace, parted from NATS instead: %v", err)
		return fromNATS(t)
	}
	c := newClusterOn(t, n.host).form()
	return &cutOff{
		t: t, c: c, cut: n.cut, heal: n.heal, silent: true,
		launch: func() *instance { return c.launchBy(n.command(), "dispatcher", "SLUICE_LISTEN="+n.inside+":0") },
	}
}

// TestADispatcherIsCutOff for 20 s in the middle of its calls, short and long ones. The
// other one takes its jobs over; it ends its own calls and answers nothing twice. No
// vendor has more calls in flight than its quota, although a network that is silent
// leaves it with calls that have ended. The milder cuts, which leave it its vendors or
// another controller, are made with SLUICE_SOAK alone: make soak.
func TestADispatcherIsCutOff(t *testing.T) {
	if os.Getenv("SLUICE_SOAK") != "" {
		t.Run("from NATS", func(t *testing.T) { fromNATS(t).play("other", "lonely") })
		t.Run("from everything", func(t *testing.T) { fromEverything(t).play("other", "lonely") })
	}
	t.Run("from everything, with the controller in it", func(t *testing.T) { fromEverything(t).play("lonely", "other") })
}

const (
	cutFor   = 20 * time.Second
	cutLong  = 46 // calls of 45 s, which leave vendor a 2 of its permits
	cutShort = 900
)

// play starts the dispatchers in this order: the first one is the controller.
func (k *cutOff) play(order ...string) {
	k.t.Helper()
	c, api := k.c, k.c.start("api", "api")
	start := map[string]func() *instance{"other": func() *instance { return c.launch("dispatcher") }, "lonely": k.launch}
	dispatchers := map[string]*instance{}
	for _, name := range order {
		dispatchers[name] = c.ready(start[name]())
	}
	if c.controllerOf([]*instance{dispatchers[order[0]], dispatchers[order[1]]}) != 0 {
		k.t.Fatalf("the controller is not with the %s one", order[0])
	}
	slow, quick := newCrowd(k.t, "long", cutLong, api...), newCrowd(k.t, "short", cutShort/3, api...)
	var long, short []ticket
	var asking sync.WaitGroup
	api[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "45s"}, "first_token": map[string]any{"kind": "fixed", "mean": "1s"}})
	asking.Go(func() { long = slow.ask(cutLong, 5*time.Millisecond) })
	await(k.t, 30*time.Second, "the long calls are under way", func() bool { return api[0].stats().InFlight == cutLong })
	api[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "2s"}})
	asking.Go(func() { short = quick.ask(cutShort, 40*time.Millisecond) })
	await(k.t, 30*time.Second, "short calls are under way", func() bool { return api[0].stats().InFlight > cutLong+30 })
	k.cut()
	poll(cutFor, func() bool { return false })
	left := api[0].stats().Cancelled
	k.heal()
	await(k.t, 20*time.Second, "it finds the cluster again", func() bool {
		return dispatchers["lonely"].call(call{url: "/readyz"}, nil) == nil
	})
	asking.Wait()
	quick.check(short)
	slow.check(long)
	c.within(api[0], quotas())
	k.proves(api[0], left)
	dispatchers["lonely"].stop()
}

// proves asserts that more long calls were cut off than may be granted beyond the limit,
// and when the vendors learned of their ends: during the cut, or only after it. left is
// how many calls they had seen the client leave when it ended.
func (k *cutOff) proves(api *instance, left int) {
	k.t.Helper()
	when := "during"
	if k.silent {
		when, left = "after", api.stats().Cancelled-left
	}
	if spare := quotas()["a"] - limits()["a"]; left <= spare {
		k.t.Errorf("the vendors saw %d calls end %s the cut, want more than the %d between limit and quota: too few for this to prove anything", left, when, spare)
	}
}
