package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// cluster is one broker and the nodes on it, each with a connection of its own, inside
// a bubble.
type cluster struct {
	t      *testing.T
	broker *natsd.Server
	nodes  []*peer
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	broker, err := natsd.NewServer(&natsd.Options{JetStream: true, StoreDir: t.TempDir(), DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	broker.Start()
	for !broker.ReadyForConnections(10 * time.Millisecond) {
	}
	return &cluster{t: t, broker: broker}
}

// peer is one node: a member, and a candidate unless it only has jobs.
type peer struct {
	t       *testing.T
	name    string
	nc      *nats.Conn
	line    *heldLine
	queue   *queue.Queue
	control *Controller
	member  *Member

	stopMember, stopControl context.CancelFunc
	running                 sync.WaitGroup
}

// role is what a node of a test does.
type role struct{ candidate, holds bool }

var (
	candidateOnly = role{candidate: true}
	holderOnly    = role{holds: true}
	bothRoles     = role{candidate: true, holds: true}
)

const testHard = 30 * time.Second

func (c *cluster) start(name string, r role) *peer {
	c.t.Helper()
	p := &peer{t: c.t, name: name, line: &heldLine{broker: c.broker}}
	nc, err := nats.Connect("", nats.InProcessServer(p.line), nats.ReconnectWait(100*time.Millisecond), nats.MaxReconnects(-1))
	if err != nil {
		c.t.Fatal(err)
	}
	p.nc = nc
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 10
	}
	if p.queue, err = queue.Open(c.t.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()}); err != nil {
		c.t.Fatal(err)
	}
	if r.candidate {
		p.control, err = New(p.queue, Config{
			Gate: permits(map[string]int{"a": 4}), Quotas: map[string]int{"a": 5}, Node: name, Hard: testHard, Log: zerolog.Nop(),
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	p.member, err = NewMember(p.queue, p.control, MemberConfig{Node: name, Onlooker: !r.holds, Hard: testHard, Log: zerolog.Nop()})
	if err != nil {
		c.t.Fatal(err)
	}
	p.run(r)
	c.nodes = append(c.nodes, p)
	return p
}

func (p *peer) run(r role) {
	ctx, cancel := context.WithCancel(context.Background())
	p.stopControl = cancel
	if r.candidate {
		p.running.Go(func() {
			if err := p.control.Run(ctx); err != nil {
				p.t.Errorf("controller %s: %v", p.name, err)
			}
		})
	}
	working, stop := context.WithCancel(context.Background())
	p.stopMember = stop
	p.running.Go(func() {
		if err := p.member.Run(working); err != nil {
			p.t.Errorf("member %s: %v", p.name, err)
		}
	})
	<-p.member.Ready()
}

// kill ends a node as kill -9 does, for everybody else.
func (p *peer) kill() { p.nc.Close() }

// stop ends a node in order.
func (p *peer) stop() {
	p.stopMember()
	p.stopControl()
	p.running.Wait()
	p.nc.Close()
}

func (c *cluster) close() {
	for _, p := range c.nodes {
		p.line.hold(false)
		p.stop()
	}
	c.broker.Shutdown()
	c.broker.WaitForShutdown()
}

// ask asks for one permit of vendor a within limit.
func (p *peer) ask(ticket string, lane chat.Lane, limit time.Duration) (gate.Permit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return p.member.Ask(ctx, gate.Ask{
		Tenant: "t", Session: "of-" + ticket, Ticket: ticket, Lane: lane, Seq: 1,
		AcceptedAt: time.Now(), Vendors: []string{"a"},
	})
}

// take asks for n permits that must come.
func (p *peer) take(n int) []gate.Permit {
	p.t.Helper()
	all := make([]gate.Permit, n)
	for i := range all {
		var err error
		if all[i], err = p.ask(fmt.Sprintf("%s-%d-%d", p.name, i, time.Now().UnixNano()), chat.Normal, 30*time.Second); err != nil {
			p.t.Fatalf("%s: permit %d of %d: %v", p.name, i+1, n, err)
		}
	}
	return all
}

// within asks for one permit and reports how long it took.
func (p *peer) within(limit time.Duration) (gate.Permit, time.Duration) {
	p.t.Helper()
	begun := time.Now()
	got, err := p.ask(fmt.Sprintf("%s-%d", p.name, begun.UnixNano()), chat.Normal, limit)
	if err != nil {
		p.t.Fatalf("%s: no permit within %s: %v", p.name, limit, err)
	}
	return got, time.Since(begun)
}

// none asks for one permit that must not come for a while.
func (p *peer) none(limit time.Duration) {
	p.t.Helper()
	if got, err := p.ask(fmt.Sprintf("%s-none-%d", p.name, time.Now().UnixNano()), chat.Normal, limit); !errors.Is(err, context.DeadlineExceeded) {
		p.t.Fatalf("%s: permit %+v, %v; want none for %s", p.name, got, err, limit)
	}
}

func (p *peer) release(all []gate.Permit) {
	for _, permit := range all {
		p.member.Release(permit, 0)
		p.member.EndTurn("t", "of-"+permit.Ticket, permit.Ticket)
	}
}

func lost(p gate.Permit) bool {
	select {
	case <-p.Lost:
		return true
	default:
		return false
	}
}

// askIn asks for the turn of a session, for two seconds.
func (p *peer) askIn(session, ticket string, seq uint64) (gate.Permit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return p.member.Ask(ctx, gate.Ask{
		Tenant: "t", Session: session, Ticket: ticket, Lane: chat.Normal, Seq: seq,
		AcceptedAt: time.Now(), Vendors: []string{"a"},
	})
}

// bucket returns the control bucket, to write into it what no node would.
func (c *cluster) bucket(p *peer) jetstream.KeyValue {
	c.t.Helper()
	js, err := jetstream.New(p.nc)
	if err != nil {
		c.t.Fatal(err)
	}
	kv, err := js.KeyValue(c.t.Context(), "control")
	if err != nil {
		c.t.Fatal(err)
	}
	return kv
}
