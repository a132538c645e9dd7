//go:build cluster

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sluice/internal/pgchild"
)

// cluster is three NATS nodes and the simulated vendors, and what starts processes on them.
type cluster struct {
	t        *testing.T
	host     string // address of the nodes and the vendors
	configs  []brokerConfig
	brokers  []*process
	rules    string            // file
	vendors  map[string]string // name → URL
	control  string            // of the simulated vendors
	database string            // URL
	key      string            // secret key of the tenant
	public   string            // its publishable key
}

// limits is what may be in flight at the simulated vendors.
func limits() map[string]int { return map[string]int{"a": 48, "b": 24, "c": 16} }

// quotas is what their contracts allow, for when calls were cut or their holders silent.
func quotas() map[string]int { return map[string]int{"a": 60, "b": 30, "c": 20} }

// clusterRules are patient and keep no answers, on three replicas, with the vendors at the URLs of a and b and c.
const clusterRules = `
replicas: 3
lanes:
  high: {bound: 5000, max_wait: 3m}
  normal: {bound: 5000, max_wait: 3m}
  low: {bound: 5000, max_wait: 3m, age: 10m}
intake:
  tenant: {qps: 100000, burst: 100000}
  tighten: {at: 1, until: 1, factor: 1}
  predict: false
valve: # closed: these tests are about the line, and count what vendors see
  min_calls: 1000000000
  shadow: 0
  levels: [{depth: 0.97, errors: 0.97, p99: 24h, wait: 24h}, {depth: 0.98, errors: 0.98, p99: 25h, wait: 25h}, {depth: 0.99, errors: 0.99, p99: 26h, wait: 26h}]
cache: {answers: 0s}
vendors:
  - {name: a, quota: 60, endpoints: [{url: "%s"}], models: {strong: m, light: m}, warmup: false, timeouts: {first_token: 2m, call: 2m, stream: 2m}}
  - {name: b, quota: 30, endpoints: [{url: "%s"}], models: {strong: m, light: m}, warmup: false, timeouts: {first_token: 2m, call: 2m, stream: 2m}}
  - {name: c, quota: 20, endpoints: [{url: "%s"}], models: {strong: m, light: m}, warmup: false, timeouts: {first_token: 2m, call: 2m, stream: 2m}}
`

// newCluster starts the simulated vendors, and describes three NATS nodes without starting them.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	return newClusterOn(t, "127.0.0.1")
}

// newClusterOn is newCluster with nodes and vendors that listen on host.
func newClusterOn(t *testing.T, host string) *cluster {
	t.Helper()
	c := &cluster{t: t, host: host, vendors: map[string]string{}, database: strings.TrimPrefix(noDatabase, "SLUICE_DATABASE_URL=")}
	sim := spawn(t, nil, "sim", "--control", "127.0.0.1:0", "--host", host, "--port", "0")
	await(t, 10*time.Second, "the simulated vendors are ready", func() bool { _, found := sim.stdout.when("control "); return found })
	for _, m := range simLine.FindAllStringSubmatch(sim.stdout.String(), -1) {
		c.vendors[m[1]] = m[2]
	}
	c.control = strings.TrimSuffix(controlLine.FindStringSubmatch(sim.stdout.String())[1], "/sim/stats")
	c.rules = rulesFile(t, fmt.Sprintf(clusterRules, c.vendors["a"], c.vendors["b"], c.vendors["c"]))
	c.describeBrokers()
	return c
}

// describeBrokers gives the NATS nodes ports and directories. The ports are free now; the
// vendors have theirs already, so that they cannot take one of these.
func (c *cluster) describeBrokers() {
	c.t.Helper()
	ports := freePorts(c.t, 6)
	c.configs, c.brokers = nil, make([]*process, 3)
	for i := range 3 {
		c.configs = append(c.configs, brokerConfig{
			Name: fmt.Sprintf("n%d", i+1), Dir: filepath.Join(c.t.TempDir(), "nats"),
			Host: c.host, Client: ports[i], Route: ports[3+i], Routes: ports[3:],
		})
	}
}

// useAllGates gives the processes that start from now on rules under which every gate of a
// vendor is in use: permits that only lane high borrows, windows of calls and of tokens,
// retries. The breaker always is.
func (c *cluster) useAllGates() *cluster {
	c.t.Helper()
	text, err := os.ReadFile(c.rules)
	if err != nil {
		c.t.Fatal(err)
	}
	c.rules = rulesFile(c.t, strings.NewReplacer(
		"high: {", "high: {elastic: true, ",
		"warmup: false", "warmup: false, elastic: 0.25, qps: 100, tokens_per_minute: 2000000, retry: {attempts: 3, permits: 0.1}, breaker: {slow_after: 20s}", // chunks come each 5 s
	).Replace(string(text)))
	return c
}

// breakVendor makes a vendor fail every call.
func (c *cluster) breakVendor(i *instance, name string) {
	c.t.Helper()
	change := map[string]any{"error_share": 1, "error_status": 503}
	if err := i.call(call{method: http.MethodPatch, url: c.control + "/" + name + "/sim/behaviour", body: change}, nil); err != nil {
		c.t.Fatal(err)
	}
}

var (
	simLine     = regexp.MustCompile(`(?m)^ +([abc]) +(http://\S+)`)
	controlLine = regexp.MustCompile(`control +GET (\S+),`)
	healthLine  = regexp.MustCompile(`health +(http://[^/]+)/readyz`)
)

// startCluster is a cluster whose NATS nodes have found each other.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	return newCluster(t).form()
}

// form starts the NATS nodes. Ports that somebody else took between the look and the
// start, and a first election that comes to nothing, are the machine's matter: such nodes
// are started anew.
func (c *cluster) form() *cluster {
	c.t.Helper()
	for range 3 {
		for i := range c.brokers {
			c.startBroker(i)
		}
		if c.formed() {
			return c
		}
		c.t.Log("the NATS nodes did not find each other, starting others")
		for _, b := range c.brokers {
			b.signal(c.t, syscall.SIGKILL)
			<-b.ended
		}
		c.describeBrokers()
	}
	c.t.Fatal("no NATS cluster came up")
	return nil
}

// formed reports whether the nodes have elected a leader for JetStream soon.
func (c *cluster) formed() bool {
	nc, err := nats.Connect(c.urls(), nats.RetryOnFailedConnect(true), nats.ReconnectWait(100*time.Millisecond), nats.MaxReconnects(-1))
	if err != nil {
		c.t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		c.t.Fatal(err)
	}
	return poll(20*time.Second, func() bool {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		_, err := js.AccountInfo(ctx)
		return err == nil
	})
}

func (c *cluster) startBroker(i int) {
	c.t.Helper()
	text, err := json.Marshal(c.configs[i])
	if err != nil {
		c.t.Fatal(err)
	}
	c.brokers[i] = launch(c.t, os.Args[0], []string{brokerEnv + "=" + string(text)})
}

// urls are the addresses of all NATS nodes.
func (c *cluster) urls() string {
	var all []string
	for _, b := range c.configs {
		all = append(all, fmt.Sprintf("nats://%s:%d", b.Host, b.Client))
	}
	return strings.Join(all, ",")
}

// useDatabase gives the processes that start from now on a real database.
func (c *cluster) useDatabase() {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	server, err := pgchild.Open(ctx, pgchild.Config{Dir: newDir(c.t), Log: zerolog.Nop()})
	if err != nil {
		stop()
		c.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	c.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			c.t.Error(err)
		}
	})
	c.database = server.URL()
}

// launch starts a process with roles and does not wait for it.
func (c *cluster) launch(roles string, env ...string) *instance {
	c.t.Helper()
	return c.launchBy(nil, roles, env...)
}

// launchBy is launch through a command that runs what stands behind it.
func (c *cluster) launchBy(command []string, roles string, env ...string) *instance {
	c.t.Helper()
	line := slices.Concat(command, []string{binary, "serve"})
	dir := newDir(c.t)
	all := append([]string{
		"SLUICE_ROLES=" + roles, "SLUICE_NATS_URL=" + c.urls(), "SLUICE_DATABASE_URL=" + c.database, "SLUICE_RULES=" + c.rules,
		"SLUICE_LISTEN=127.0.0.1:0", "SLUICE_DATA=" + dir, "SLUICE_LOG_FORMAT=json",
	}, env...)
	i := &instance{process: launch(c.t, line[0], all, line[1:]...), t: c.t, dir: dir, roles: roles, control: c.control, key: c.key}
	i.http = i.client(nil)
	i.local = i.client(func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(dir, "sluice.sock"))
	})
	c.t.Cleanup(i.bury)
	return i
}

// ready waits until a process works.
func (c *cluster) ready(i *instance) *instance {
	c.t.Helper()
	await(c.t, time.Minute, "the process is ready", func() bool {
		select {
		case <-i.ended:
			c.t.Fatalf("the process has ended: %s", i.stderr.tail(5))
		default:
		}
		var ready bool
		i.readyAt, ready = i.stdout.when("/readyz")
		return ready
	})
	i.base = healthLine.FindStringSubmatch(i.stdout.String())[1]
	c.t.Logf("%s ready after %d ms", i.roles, i.readyAt.Sub(i.begun).Milliseconds())
	return i
}

// start starts processes with roles together, and waits for all of them. The first api
// makes the tenant.
func (c *cluster) start(roles ...string) []*instance {
	c.t.Helper()
	all := make([]*instance, len(roles))
	for k, role := range roles {
		all[k] = c.launch(role)
	}
	for k := range all {
		c.ready(all[k])
		if c.key == "" && strings.Contains(roles[k], "api") {
			c.makeTenant(all[k])
		}
		all[k].key = c.key
	}
	return all
}

func (c *cluster) makeTenant(api *instance) {
	c.t.Helper()
	var keys struct {
		Secret      string `json:"secret_key"`
		Publishable string `json:"publishable_key"`
	}
	body := map[string]any{"name": "shop", "lane": "high", "origins": []string{shopOrigin}}
	if err := api.call(call{client: api.local, method: http.MethodPost, url: "http://sluice/tenants", body: body}, &keys); err != nil {
		c.t.Fatal(err)
	}
	c.key, c.public = keys.Secret, keys.Publishable
}

const shopOrigin = "https://shop.example"

// leader returns which NATS node leads a stream.
func (c *cluster) leader(stream string) int {
	c.t.Helper()
	nc, err := nats.Connect(c.urls())
	if err != nil {
		c.t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s, err := js.Stream(ctx, stream)
	if err != nil {
		c.t.Fatal(err)
	}
	for i, cfg := range c.configs {
		if info := s.CachedInfo(); info.Cluster != nil && info.Cluster.Leader == cfg.Name {
			return i
		}
	}
	c.t.Fatalf("stream %s has no leader", stream)
	return 0
}

// killBroker ends a NATS node with kill -9, and starts it again once back has passed.
func (c *cluster) killBroker(i int, back time.Duration) {
	c.t.Helper()
	c.brokers[i].signal(c.t, syscall.SIGKILL)
	c.brokers[i].exit(c.t, 10*time.Second)
	poll(back, func() bool { return false })
	c.startBroker(i)
}

// maxima returns the most calls that each vendor ever had in flight.
func (c *cluster) maxima(i *instance) map[string]int {
	c.t.Helper()
	var each map[string]struct {
		MaxInFlight int `json:"max_in_flight"`
	}
	if err := i.call(call{url: c.control + "/sim/stats"}, &each); err != nil {
		c.t.Fatal(err)
	}
	all := map[string]int{}
	for name, s := range each {
		all[name] = s.MaxInFlight
	}
	return all
}

// within asserts that no vendor ever had more calls in flight than allowed.
func (c *cluster) within(i *instance, allowed map[string]int) {
	c.t.Helper()
	all := c.maxima(i)
	for name, seen := range all {
		if seen > allowed[name] {
			c.t.Errorf("vendor %s had %d calls in flight, want at most %d", name, seen, allowed[name])
		}
	}
	c.t.Logf("most calls in flight: %v, allowed %v", all, allowed)
}

// freePorts returns ports that nobody listens on at any address.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", ":0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}
