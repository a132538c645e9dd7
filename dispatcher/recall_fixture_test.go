package dispatcher

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/control"
	"sluice/internal/queue"
	"sluice/worker"
)

// peer is one process of a cluster: a dispatcher, its worker and a candidate for the
// controller, with a connection of their own.
type peer struct {
	nc     *nats.Conn
	queue  *queue.Queue
	worker *worker.Worker
	stop   func() // all of it, in order
}

// keep is how long the answers of a test are fresh.
const keep = time.Minute

// peers starts n nodes that keep answers, and waits until one grants.
func (w *world) peers(n int) []*peer {
	w.t.Helper()
	all := make([]*peer, n)
	for i := range all {
		all[i] = w.peer(string(rune('a' + i)))
	}
	time.Sleep(5 * time.Second) // elected
	return all
}

func (w *world) peer(name string) *peer {
	w.t.Helper()
	must := func(err error) {
		if err != nil {
			w.t.Helper()
			w.t.Fatal(err)
		}
	}
	n := &peer{}
	var err error
	n.nc, err = w.server.Dial()
	must(err)
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = cmp.Or(w.set.Bound, 500)
	}
	n.queue, err = queue.Open(w.t.Context(), n.nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()})
	must(err)
	c, err := control.New(n.queue, control.Config{Gate: w.set.limits(), Node: name, Log: zerolog.Nop()})
	must(err)
	m, err := control.NewMember(n.queue, c, control.MemberConfig{Node: name, Log: zerolog.Nop()})
	must(err)
	n.worker, err = worker.New(w.model, worker.Config{
		Templates: map[string]map[string][]string{worker.Other: {chat.Chinese: {"稍后"}, chat.English: {"Later."}}},
		Memory: &worker.Memory{
			Answers: n.queue, Fold: strings.ToLower,
			Keep:   func() time.Duration { return keep },
			Jitter: func() time.Duration { return 0 },
			Models: func(chat.Effort) string { return "m" }, Knowledge: func() string { return cache.None },
		},
	})
	must(err)
	d, err := New(n.queue, m, n.worker, Config{Rules: func() Rules { return w.set.rules() }, Log: w.set.Log})
	must(err)
	n.run(w.t, d, m, c)
	return n
}

func (n *peer) run(t *testing.T, d *Dispatcher, m *control.Member, c *control.Controller) {
	var stops []func()
	for _, part := range []func(context.Context) error{c.Run, m.Run, d.Run} {
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() {
			if err := part(ctx); err != nil {
				t.Error(err)
			}
		})
		stops = append(stops, func() { cancel(); running.Wait() })
	}
	n.stop = sync.OnceFunc(func() {
		for i := len(stops) - 1; i >= 0; i-- {
			stops[i]()
		}
		n.nc.Close()
	})
}

// counts adds up what the nodes recalled.
func counts(nodes []*peer) (sum cache.Counts) {
	for _, n := range nodes {
		c := n.worker.Recalls()
		sum.Hit, sum.Stale, sum.Miss, sum.Failed = sum.Hit+c.Hit, sum.Stale+c.Stale, sum.Miss+c.Miss, sum.Failed+c.Failed
	}
	return sum
}

// onNodes runs f with a cluster of three nodes.
func onNodes(t *testing.T, set setup, f func(t *testing.T, w *world, nodes []*peer)) {
	t.Helper()
	inBubble(t, set, func(t *testing.T, w *world) {
		nodes := w.peers(3)
		defer func() {
			for _, n := range nodes {
				n.stop()
			}
		}()
		f(t, w, nodes)
	})
}

// general accepts a question that many ask, n times, each in a session of its own.
func (w *world) general(n int, text string, wait time.Duration) (ids []string) {
	w.t.Helper()
	for range n {
		t := ticket(chat.NewSessionID(), text, chat.Normal, wait)
		t.Intent = "delivery_info"
		ids = append(ids, w.accept(t).ID)
	}
	return ids
}

// ends waits for the ends of tickets and counts them by route.
func (w *world) ends(ids []string) (all []chat.Ticket, routes map[chat.Route]int) {
	w.t.Helper()
	routes = map[chat.Route]int{}
	for _, id := range ids {
		t := w.until(id, 5*time.Minute)
		all = append(all, t)
		routes[t.Route]++
	}
	return all, routes
}
