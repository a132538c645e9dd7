//go:build unix

package control

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// benchBrokers runs one broker, or some that are a cluster, outside any bubble.
func benchBrokers(b *testing.B, count int) []*natsd.Server {
	b.Helper()
	all := make([]*natsd.Server, count)
	ports := freePorts(b, count)
	for i := range all {
		opts := &natsd.Options{
			ServerName: fmt.Sprint("n", i), DontListen: true, NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: b.TempDir(),
		}
		if count > 1 {
			opts.DontListen, opts.Host, opts.Port = false, "127.0.0.1", natsd.RANDOM_PORT
			opts.Cluster = natsd.ClusterOpts{Name: "bench", Host: "127.0.0.1", Port: ports[i]}
			for _, port := range ports {
				opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)})
			}
		}
		broker, err := natsd.NewServer(opts)
		if err != nil {
			b.Fatal(err)
		}
		broker.Start()
		b.Cleanup(func() {
			broker.Shutdown()
			broker.WaitForShutdown()
		})
		all[i] = broker
	}
	for end := time.Now().Add(20 * time.Second); !formed(all); pause(b.Context(), 10*time.Millisecond) {
		if time.Now().After(end) {
			b.Fatal("the brokers do not find each other")
		}
	}
	return all
}

// freePorts returns ports that nobody listens on now.
func freePorts(b *testing.B, count int) []int {
	b.Helper()
	ports := make([]int, count)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}

// formed reports whether brokers take clients and, if they are a cluster, all are in it.
func formed(all []*natsd.Server) bool {
	met := len(all) == 1
	for _, broker := range all {
		if !broker.ReadyForConnections(10 * time.Millisecond) {
			return false
		}
		met = met || broker.JetStreamIsLeader() && len(broker.JetStreamClusterPeers()) == len(all)
	}
	return met
}

// benchNode runs a node on a broker, with buckets of so many replicas.
func benchNode(b *testing.B, broker *natsd.Server, replicas int, name string, candidate bool) *Member {
	b.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(broker))
	if err != nil {
		b.Fatal(err)
	}
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 10
	}
	q, err := queue.Open(b.Context(), nc, queue.Config{Bounds: bounds, Replicas: replicas, Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	var c *Controller
	if candidate {
		if c, err = New(q, Config{Gate: permits(map[string]int{"a": 48}), Node: name, Log: zerolog.Nop()}); err != nil {
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

// benchGrant measures one ask, its grant and the release, one after the other, on as many
// brokers as there are replicas. near: the asker is in the controller's process. CPU is
// that of all processes together, which are one here, the brokers' idle work included.
func benchGrant(b *testing.B, replicas int, near bool) {
	brokers := benchBrokers(b, replicas)
	m := benchNode(b, brokers[0], replicas, "controller", true)
	if !near {
		m = benchNode(b, brokers[replicas-1], replicas, "holder", false)
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
	begun := cpuTime(b)
	for i := 0; b.Loop(); i++ {
		ask(i)
	}
	b.ReportMetric(float64(cpuTime(b)-begun)/float64(b.N), "cpu-ns/op")
}

// cpuTime is what this process has used so far.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkGrantInProcess(b *testing.B) { benchGrant(b, 1, true) }

func BenchmarkGrantAcross(b *testing.B) { benchGrant(b, 1, false) }

// Controller and holder are clients of different brokers. Of the controller only its
// lease and registrations are replicated, so a grant costs a route more and no quorum.
func BenchmarkGrantAcrossOnR3(b *testing.B) { benchGrant(b, 3, false) }
