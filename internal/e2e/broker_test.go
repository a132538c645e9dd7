//go:build e2e || cluster

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// brokerEnv carries what a NATS node is to be to the test binary, run again as one.
const brokerEnv = "SLUICE_TEST_BROKER"

// brokerConfig describes one node of the NATS cluster.
type brokerConfig struct {
	Name   string
	Dir    string
	Host   string // address of all nodes
	Client int    // port of the clients
	Route  int    // port of the other nodes
	Routes []int  // of all nodes
}

// serveBroker runs a NATS node until SIGTERM; false: this process shall be none.
func serveBroker() (bool, error) {
	text, set := os.LookupEnv(brokerEnv)
	if !set {
		return false, nil
	}
	var cfg brokerConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return true, err
	}
	opts := &server.Options{
		ServerName: cfg.Name, Host: cfg.Host, Port: cfg.Client,
		// Clients know all addresses; what the nodes tell each other would lead around a test's proxies.
		Cluster:   server.ClusterOpts{Name: "sluice", Host: cfg.Host, Port: cfg.Route, NoAdvertise: true},
		JetStream: true, StoreDir: cfg.Dir, JetStreamMaxStore: 4 << 30, JetStreamMaxMemory: 256 << 20,
		MaxPayload: 2 << 20, NoSigs: true, NoLog: true,
	}
	for _, port := range cfg.Routes {
		opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("%s:%d", cfg.Host, port)})
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return true, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ns.Start()
	if !ns.ReadyForConnections(10 * time.Second) {
		return true, errors.New("the NATS node accepts no clients")
	}
	<-ctx.Done()
	ns.Shutdown()
	ns.WaitForShutdown()
	return true, nil
}
