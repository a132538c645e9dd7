package drill

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// brokerHost is the address of all nodes of a drill's NATS cluster.
const brokerHost = "127.0.0.1"

// Broker is one node of a drill's NATS cluster.
type Broker struct {
	Name   string
	Dir    string // where JetStream stores its files
	Client int    // port of the clients
	Route  int    // port of the other nodes; 0: there are none
	Routes []int  // of all nodes
}

// Serve runs the node until ctx ends.
func (b Broker) Serve(ctx context.Context) error {
	opts := &server.Options{
		ServerName: b.Name, Host: brokerHost, Port: b.Client,
		JetStream: true, StoreDir: b.Dir, JetStreamMaxStore: 4 << 30, JetStreamMaxMemory: 256 << 20,
		SyncInterval: time.Second,
		MaxPayload:   2 << 20, // a rules document may have 1 MiB, and comes with headers
		NoSigs:       true, NoLog: true,
	}
	if b.Route != 0 {
		opts.Cluster = server.ClusterOpts{Name: "sluice", Host: brokerHost, Port: b.Route, NoAdvertise: true}
		for _, port := range b.Routes {
			opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("%s:%d", brokerHost, port)})
		}
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("create nats server: %w", err)
	}
	ns.Start()
	defer func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	}()
	if !ns.ReadyForConnections(readyFor) {
		return errors.New("the nats server accepts no clients")
	}
	<-ctx.Done()
	return nil
}

// args are those of the hidden command that runs the node.
func (b Broker) args() []string {
	args := []string{"broker", "--name", b.Name, "--dir", b.Dir, "--client", fmt.Sprint(b.Client), "--route", fmt.Sprint(b.Route)}
	if len(b.Routes) > 0 {
		args = append(args, "--routes", strings.Trim(strings.ReplaceAll(fmt.Sprint(b.Routes), " ", ","), "[]"))
	}
	return args
}
