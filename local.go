package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"syscall"
	"time"
)

// maxSocketPath is the longest path that a unix socket may have (sun_path, with its NUL).
const maxSocketPath = 107

// instance is what a running process tells the commands on its machine.
type instance struct {
	BaseURL   string         `json:"base_url"`
	Control   string         `json:"control,omitempty"` // of the simulated vendors
	Limits    map[string]int `json:"limits"`
	Quotas    map[string]int `json:"quotas"`
	Simulated bool           `json:"simulated"`
}

// commands is what the socket in the data directory serves: the tenants, what runs
// here, and Go's profiles of it. The directory's permissions guard it.
func (n *node) commands() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", n.api.Local())
	mux.HandleFunc("GET /instance", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(n.instance()) // a command that has gone cannot be told
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

func (n *node) instance() instance {
	i := instance{BaseURL: "http://" + n.http.Addr().String(), Limits: map[string]int{}, Quotas: map[string]int{}}
	for _, v := range n.live.rules().Vendors {
		i.Limits[v.Name], i.Quotas[v.Name] = v.Limit(), v.Quota
	}
	if n.fleet != nil && n.fleet.sim != nil {
		i.Simulated, i.Control = true, n.fleet.sim.ControlURL()
	}
	return i
}

// listenLocal binds the command socket. A socket that is there belongs to a process
// that is dead: we hold the lock of its directory, or nobody answered on it.
func listenLocal(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path %s has %d bytes, a socket's may have %d: choose a shorter one with --data", path, len(path), maxSocketPath)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the socket of a dead process: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for commands: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("guard the command socket: %w", err), l.Close())
	}
	return l, nil
}

// errNotRunning says that no instance serves the data directory.
var errNotRunning = errors.New("no sluice runs on this data directory: start one with `sluice`, or name its directory with --data")

// call asks the instance that runs on a data directory. in and out may be nil.
func (s settings) call(ctx context.Context, method, path string, in, out any) error {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", s.socket())
		},
	}}
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://sluice"+path, body)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return errNotRunning
	}
	if err != nil {
		return fmt.Errorf("ask the running instance: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		return problem(resp.Body)
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("read the instance's answer: %w", err)
	}
	return nil
}

// problem turns a problem document into one line.
func problem(body io.Reader) error {
	var p struct {
		Code, Detail string
		Errors       []struct{ Field, Detail string }
	}
	if err := json.NewDecoder(io.LimitReader(body, 1<<20)).Decode(&p); err != nil {
		return fmt.Errorf("read the instance's refusal: %w", err)
	}
	if len(p.Errors) > 0 {
		return fmt.Errorf("%s: %s", p.Errors[0].Field, p.Errors[0].Detail)
	}
	return fmt.Errorf("%s: %s", p.Code, p.Detail)
}
