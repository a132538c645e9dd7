package control

import (
	"context"
	"fmt"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// benchNode runs a node on a broker outside any bubble.
func benchNode(b *testing.B, broker *natsd.Server, name string, candidate bool) *Member {
	b.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(broker))
	if err != nil {
		b.Fatal(err)
	}
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 10
	}
	q, err := queue.Open(b.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	var c *Controller
	if candidate {
		if c, err = New(q, Config{Limits: map[string]int{"a": 48}, Node: name, Log: zerolog.Nop()}); err != nil {
			b.Fatal(err)
		}
	}
	m, err := NewMember(q, c, MemberConfig{Node: name, Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	if c != nil {
		go func() { ended <- c.Run(ctx) }()
		<-c.Ready()
	} else {
		ended <- nil
	}
	go func() { ended <- m.Run(ctx) }()
	<-m.Ready()
	b.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				b.Error(err)
			}
		}
		nc.Close()
	})
	return m
}

func benchGrant(b *testing.B, near bool) {
	broker, err := natsd.NewServer(&natsd.Options{JetStream: true, StoreDir: b.TempDir(), DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		b.Fatal(err)
	}
	broker.Start()
	for !broker.ReadyForConnections(10 * time.Millisecond) {
	}
	b.Cleanup(func() {
		broker.Shutdown()
		broker.WaitForShutdown()
	})
	m := benchNode(b, broker, "controller", true)
	if !near {
		m = benchNode(b, broker, "holder", false)
	}
	ask := func(i int) {
		a := gate.Ask{Tenant: "t", Session: "s", Ticket: fmt.Sprint(i), Lane: chat.Batch, AcceptedAt: time.Now(), Vendors: []string{"a"}}
		p, err := m.Ask(b.Context(), a)
		if err != nil {
			b.Fatal(err)
		}
		m.Release(p, 0)
	}
	ask(0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ask(i)
	}
}

// One ask, its grant and the release, one after the other.
func BenchmarkGrantInProcess(b *testing.B) { benchGrant(b, true) }

func BenchmarkGrantAcross(b *testing.B) { benchGrant(b, false) }
