//go:build e2e || cluster

package e2e

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// readyLimit is how long a start may take on a busy machine; the aim is 2 s.
const readyLimit = 5 * time.Second

// setup is how an instance is started.
type setup struct {
	dir   string // empty: a new one
	rules string // text of a rules file; empty: the shipped rules
	env   []string
}

// instance is a serving process and its clients.
type instance struct {
	*process
	t       *testing.T
	dir     string
	roles   string // of a process on a cluster
	base    string // of HTTP
	control string // of the simulated vendors
	readyAt time.Time
	http    *http.Client
	local   *http.Client // through the socket in the data directory
	key     string       // bearer of the HTTP calls
}

// newDir returns a data directory whose socket's path is short enough.
func newDir(t *testing.T) string {
	t.Helper()
	top, err := os.MkdirTemp("", "slu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	return filepath.Join(top, "d")
}

// start starts an instance and waits until it is ready.
func start(t *testing.T, s setup) *instance {
	t.Helper()
	if s.dir == "" {
		s.dir = newDir(t)
	}
	env := []string{
		"SLUICE_LISTEN=127.0.0.1:0", "SLUICE_DATA=" + s.dir, "SLUICE_LOG_FORMAT=json", "SLUICE_LOG_LEVEL=info",
		"SLUICE_ADMIN_PASSWORD=end-to-end-password", noDatabase,
		"SLUICE_DEV_TENANT_KEY=" + tenantKey, "SLUICE_DEV_PUBLISHABLE_KEY=" + publishableKey,
	}
	if s.rules != "" {
		env = append(env, "SLUICE_RULES="+rulesFile(t, s.rules))
	}
	i := &instance{process: spawn(t, append(env, s.env...), "serve"), t: t, dir: s.dir, key: tenantKey}
	i.http = i.client(nil)
	i.local = i.client(func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(s.dir, "sluice.sock"))
	})
	t.Cleanup(i.bury)
	await(t, readyLimit+10*time.Second, "the instance is ready", func() bool {
		select {
		case <-i.ended:
			t.Fatalf("the instance has ended: %s", i.stderr.tail(5))
		default:
		}
		var ready bool
		i.readyAt, ready = i.stdout.when("Sluice is ready.")
		return ready
	})
	took := i.readyAt.Sub(i.begun)
	t.Logf("ready after %d ms", took.Milliseconds())
	if took > readyLimit {
		t.Errorf("ready after %s, want at most %s", took, readyLimit)
	}
	var about struct {
		BaseURL   string `json:"base_url"`
		Control   string `json:"control"`
		Simulated bool   `json:"simulated"`
	}
	if err := i.call(call{client: i.local, url: "http://sluice/instance"}, &about); err != nil {
		t.Fatal(err)
	}
	i.base, i.control = about.BaseURL, about.Control
	return i
}

func (i *instance) client(dial func(context.Context, string, string) (net.Conn, error)) *http.Client {
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 256}
	i.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 70 * time.Second}
}

// kill ends the process with kill -9.
func (i *instance) kill() {
	i.t.Helper()
	i.signal(i.t, syscall.SIGKILL)
	i.exit(i.t, 10*time.Second)
	i.http.CloseIdleConnections()
}

// stop ends the process with SIGTERM.
func (i *instance) stop() {
	i.t.Helper()
	i.signal(i.t, syscall.SIGTERM)
	i.leave()
}

// leave waits for the good end of a process that was told to stop.
func (i *instance) leave() {
	i.t.Helper()
	begun := time.Now()
	if code := i.exit(i.t, 30*time.Second); code != 0 {
		i.t.Errorf("exit code %d after SIGTERM, want 0: %s", code, i.stderr.tail(5))
	}
	i.t.Logf("stopped after %d ms", time.Since(begun).Milliseconds())
	i.http.CloseIdleConnections()
}

// bury ends the process however it stands, and its private PostgreSQL, which takes a
// moment longer.
func (i *instance) bury() {
	_ = i.cmd.Process.Kill() // it may have ended
	<-i.ended
	if i.t.Failed() {
		i.t.Logf("the instance's last words:\n%s", i.stderr.tail(15))
	}
	if !poll(20*time.Second, func() bool { return i.postmaster() == 0 }) {
		i.t.Errorf("the private PostgreSQL, process %d, outlives its parent", i.postmaster())
	}
}

// postmaster returns the process id of the private PostgreSQL, or 0 while none lives.
func (i *instance) postmaster() int {
	files, _ := filepath.Glob(filepath.Join(i.dir, "postgres", "pg*", "data", "postmaster.pid"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(text), "\n")
		pid, err := strconv.Atoi(strings.TrimSpace(first))
		if err == nil && pid > 1 && pid != os.Getpid() && syscall.Kill(pid, 0) == nil {
			return pid
		}
	}
	return 0
}

func rulesFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// patientRules let tickets wait long and in large numbers, and vendors be silent long.
const patientRules = `
lanes:
  high: {bound: 5000, max_wait: 2m}
  normal: {bound: 5000, max_wait: 2m}
  low: {bound: 5000, max_wait: 2m}
intake:
  tenant: {qps: 100000, burst: 100000}
  tighten: {at: 1, until: 1, factor: 1}
  predict: false
valve: # closed: these tests are about the line, and count what vendors see
  min_calls: 1000000000
  shadow: 0
  levels: [{depth: 0.97, errors: 0.97, p99: 24h, wait: 24h}, {depth: 0.98, errors: 0.98, p99: 25h, wait: 25h}, {depth: 0.99, errors: 0.99, p99: 26h, wait: 26h}]
vendors:
  - name: a
    endpoints: [{url: "http://127.0.0.1:9101/v1", key_env: END_TO_END_NO_KEY}]
    models: {strong: model-l, light: model-s}
    quota: 60
    warmup: false # tests count calls
    timeouts: {first_token: 2m, call: 2m, stream: 2m}
  - name: b
    endpoints: [{url: "http://127.0.0.1:9102/v1", key_env: END_TO_END_NO_KEY}]
    models: {strong: model-l, light: model-s}
    quota: 30
    warmup: false # tests count calls
    timeouts: {first_token: 2m, call: 2m, stream: 2m}
  - name: c
    endpoints: [{url: "http://127.0.0.1:9103/v1", key_env: END_TO_END_NO_KEY}]
    models: {strong: model-l, light: model-s}
    quota: 20
    warmup: false # tests count calls
    timeouts: {first_token: 2m, call: 2m, stream: 2m}
`

// permits is what the vendors of the shipped and of the patient rules grant together.
const permits = 48 + 24 + 16
