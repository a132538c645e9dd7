package drill

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How often NATS nodes that do not find each other are started anew, and how long they have.
const (
	formTries = 3
	formFor   = 20 * time.Second
)

// cluster is NATS nodes and processes by role on them, each a child of this process.
type cluster struct {
	d       *drill
	nodes   []Broker
	brokers []*process
	rules   string // file
	env     []string
	members []*instance
	api     *instance
	tenants []tenant
}

// startCluster starts vendors, NATS nodes, one api and some dispatchers, and three tenants.
// env is given to every process.
func (d *drill) startCluster(ctx context.Context, nodes, dispatchers int, env ...string) (*cluster, error) {
	if err := d.startVendors(ctx, accounts()); err != nil {
		return nil, err
	}
	c := &cluster{d: d, env: env}
	d.own(c.stop)
	replicas := 1
	if nodes > 1 {
		replicas = 3
	}
	var err error
	if c.rules, err = writeRules(d.dir, writtenRules(d.vendors.all, setting{replicas: replicas})); err != nil {
		return nil, err
	}
	if err := c.form(ctx, nodes); err != nil {
		return nil, err
	}
	d.say("processes start")
	if c.api, err = c.launch("api"); err != nil {
		return nil, err
	}
	for range dispatchers {
		// One by one: the first has the controller in it.
		if _, err := c.join(ctx, "dispatcher"); err != nil {
			return nil, err
		}
	}
	if err := c.api.ready(ctx); err != nil {
		return nil, err
	}
	if c.tenants, err = c.api.addTenants(ctx); err != nil {
		return nil, err
	}
	return c, d.settle(ctx)
}

// form starts the NATS nodes. Ports that somebody else took between the look and the start,
// and a first election that comes to nothing, are the machine's matter: such nodes are
// started anew.
func (c *cluster) form(ctx context.Context, n int) error {
	for try := range formTries {
		c.d.say("NATS nodes start")
		ports, err := freePorts(2 * n)
		if err != nil {
			return err
		}
		c.nodes, c.brokers = nil, make([]*process, n)
		for i := range n {
			b := Broker{Name: fmt.Sprintf("n%d", i+1), Client: ports[i], Dir: filepath.Join(c.d.dir, fmt.Sprintf("nats-%d-%d", try, i))}
			if n > 1 {
				b.Route, b.Routes = ports[n+i], ports[n:]
			}
			c.nodes = append(c.nodes, b)
		}
		for i := range n {
			if err := c.startBroker(i); err != nil {
				return err
			}
		}
		if err = c.formed(ctx); err == nil {
			return nil
		}
		c.d.note("the NATS nodes did not find each other, others were started: %v", err)
		for i := range n {
			c.brokers[i].kill()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.New("no NATS cluster came up")
}

func (c *cluster) startBroker(i int) (err error) {
	b := c.nodes[i]
	c.brokers[i], err = spawn("NATS node "+b.Name, c.d.cfg.Binary, nil, b.args()...)
	return err
}

// formed waits until the nodes serve JetStream.
func (c *cluster) formed(ctx context.Context) error {
	nc, err := nats.Connect(c.urls(), nats.RetryOnFailedConnect(true), nats.ReconnectWait(100*time.Millisecond), nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("connect to the NATS nodes: %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	for end := time.Now().Add(formFor); ; {
		ask, cancel := context.WithTimeout(ctx, time.Second)
		_, err = js.AccountInfo(ask)
		cancel()
		if err == nil || time.Now().After(end) {
			return err
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// urls are the addresses of all NATS nodes.
func (c *cluster) urls() string {
	var all []string
	for _, b := range c.nodes {
		all = append(all, fmt.Sprintf("nats://%s:%d", brokerHost, b.Client))
	}
	return strings.Join(all, ",")
}

// launch starts a process with a role and does not wait for it.
func (c *cluster) launch(role string) (*instance, error) {
	n := len(c.members) + 1
	i, err := launch(fmt.Sprintf("%s %d", role, n), c.d.cfg.Binary, filepath.Join(c.d.dir, fmt.Sprintf("m%d", n)), append([]string{
		"SLUICE_ROLES=" + role, "SLUICE_NATS_URL=" + c.urls(), "SLUICE_RULES=" + c.rules,
	}, c.env...)...)
	if err == nil {
		c.members = append(c.members, i)
	}
	return i, err
}

// join starts a process with a role and waits until it works.
func (c *cluster) join(ctx context.Context, role string) (*instance, error) {
	i, err := c.launch(role)
	if err == nil {
		err = i.ready(ctx)
	}
	return i, err
}

// stop ends the processes in good order and then the nodes.
func (c *cluster) stop() {
	for _, m := range c.members {
		if err := m.stop(); err != nil {
			c.d.note("%v", err)
		}
	}
	for _, b := range c.brokers {
		if b != nil {
			b.kill()
		}
	}
}

// freePorts returns ports that nobody listens on.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", brokerHost+":0")
		if err != nil {
			return nil, fmt.Errorf("look for a free port: %w", err)
		}
		defer func() { _ = l.Close() }()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
