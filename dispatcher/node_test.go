package dispatcher

import (
	"context"
	"sync"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/control"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
)

// fleet is a line whose dispatchers are nodes of their own. The controller and the test
// share one connection to the broker, each dispatcher has another.
type fleet struct {
	*world
	broker *natsd.Server
	nodes  []*node
}

// inBubbleApart runs f with a line that grants and has no dispatcher yet.
func inBubbleApart(t *testing.T, set setup, f func(t *testing.T, w *fleet)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		broker, err := natsd.NewServer(&natsd.Options{JetStream: true, StoreDir: t.TempDir(), DontListen: true, NoSigs: true, NoLog: true})
		if err != nil {
			t.Fatal(err)
		}
		broker.Start()
		defer broker.WaitForShutdown()
		defer broker.Shutdown()
		for !broker.ReadyForConnections(10 * time.Millisecond) {
		}
		w := &fleet{world: &world{t: t, set: set}, broker: broker}
		if w.nc, err = nats.Connect("", nats.InProcessServer(broker)); err != nil {
			t.Fatal(err)
		}
		defer w.nc.Close()
		w.queue = w.open(w.nc)
		defer w.openVendor()()
		defer w.rule()()
		defer func() {
			for _, n := range w.nodes {
				n.stop()
			}
		}()
		f(t, w)
	})
}

func (w *fleet) open(nc *nats.Conn) *queue.Queue {
	w.t.Helper()
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 500
	}
	q, err := queue.Open(w.t.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()})
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

// rule runs an elected controller until depose.
func (w *fleet) rule() (depose func()) {
	w.t.Helper()
	c, err := control.New(w.queue, control.Config{Gate: w.set.limits(), Node: "controller", Log: zerolog.Nop()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.life = &life{control: c}
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := c.Run(ctx); err != nil {
			w.t.Errorf("controller: %v", err)
		}
	})
	<-c.Ready()
	return func() { cancel(); run.Wait() }
}

// node is one dispatcher and its way to the controller.
type node struct {
	line       *line
	member     *control.Member
	dispatcher *Dispatcher
	stop       func() // in order, and waits
}

// join starts a dispatcher at a distance from the broker.
func (w *fleet) join(name string, distance time.Duration) *node {
	w.t.Helper()
	way, err := newLine(w.broker, distance)
	if err != nil {
		w.t.Fatal(err)
	}
	n := &node{line: way}
	// The client must not look for another connection: it would flush it with a timer
	// that it shares with other bubbles.
	nc, err := nats.Connect("", nats.InProcessServer(way), nats.NoReconnect(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		w.t.Fatal(err)
	}
	q := w.open(nc)
	if n.member, err = control.NewMember(q, nil, control.MemberConfig{Node: name, Log: zerolog.Nop()}); err != nil {
		w.t.Fatal(err)
	}
	n.dispatcher, err = New(q, n.member, w.worker, Config{
		Rules: func() Rules { return w.set.rules() }, Grace: w.set.Grace, Log: zerolog.Nop(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	taking, stop := context.WithCancel(context.Background())
	asking, leave := context.WithCancel(context.Background())
	var takes, asks sync.WaitGroup
	takes.Go(func() {
		if err := n.dispatcher.Run(taking); err != nil {
			w.t.Errorf("dispatcher %s: %v", name, err)
		}
	})
	asks.Go(func() {
		if err := n.member.Run(asking); err != nil {
			w.t.Errorf("member %s: %v", name, err)
		}
	})
	n.stop = sync.OnceFunc(func() {
		stop()
		takes.Wait()
		leave()
		asks.Wait()
		nc.Close()
	})
	w.nodes = append(w.nodes, n)
	<-n.member.Ready()
	return n
}

func (n *node) held() int { return len(n.dispatcher.held.all()) }
