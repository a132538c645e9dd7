package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"sluice/api"
)

// readyCmd asks a process on this machine whether it is ready: a health check for
// images that have no other program in them.
type readyCmd struct {
	Listen string `help:"Address that the process listens on." env:"SLUICE_LISTEN" default:"127.0.0.1:8080"`
}

// errNotReady says that no request would be accepted.
var errNotReady = errors.New("not ready")

// Run prints each dependency with its state; it is an error if no request would be accepted.
func (c *readyCmd) Run(ctx context.Context, out io.Writer) error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("listen address %s: %w", c.Listen, err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask for readiness: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	var body api.Readiness
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return fmt.Errorf("read readiness: %w", err)
	}
	_, _ = fmt.Fprintln(out, body.Status)
	for _, d := range body.Checks {
		_, _ = fmt.Fprintf(out, "  %-10s %s\n", d.Name, d.State)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", errNotReady, body.Status)
	}
	return nil
}
