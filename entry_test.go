package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"sluice/api"
	"sluice/internal/metrics"
	"sluice/internal/queue/queuetest"
)

// entering is a process that enters a NATS cluster and answers /readyz meanwhile.
type entering struct {
	t      *testing.T
	node   *node
	lines  queuetest.Lines
	cancel context.CancelFunc
	ended  chan error
	engine *engine
}

// enter starts to enter. The rules come from a file, so that nobody is waited for.
func enter(t *testing.T, s settings) *entering {
	t.Helper()
	s.Listen, s.Rules = "127.0.0.1:0", filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(s.Rules, []byte(smallRules), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, all := queuetest.NewLog()
	log := all.Level(zerolog.InfoLevel)
	ctx, cancel := context.WithCancel(t.Context())
	e := &entering{t: t, node: &node{settings: s, log: log, metrics: metrics.New(), waits: &waits{log: log}}, lines: lines, cancel: cancel, ended: make(chan error, 1)}
	if err := e.node.listenHTTP(ctx); err != nil {
		t.Fatal(err)
	}
	back := e.node.meanwhile(ctx)
	go func() {
		var err error
		e.engine, err = joinEngine(ctx, s, e.node.waits, log)
		back()
		e.ended <- err
	}()
	return e
}

// end returns how it ended: with an engine, or with an error.
func (e *entering) end() error {
	err := <-e.ended
	if err == nil {
		e.engine.close()
	}
	e.cancel()
	_ = e.node.http.Close()
	return err
}

// state returns what /readyz says about NATS; nothing in it may be an address.
func (e *entering) state() string {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, "http://"+e.node.http.Addr().String()+"/readyz", nil)
	if err != nil {
		e.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var body api.Readiness
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || resp.StatusCode != http.StatusServiceUnavailable || len(body.Checks) != 1 {
		e.t.Fatalf("/readyz: %d, %+v, %v", resp.StatusCode, body, err)
	}
	return body.Checks[0].State
}

// shows runs a server that shows whatever certificate is stored.
func shows(t *testing.T, shown *atomic.Pointer[tls.Certificate]) *server.Server {
	t.Helper()
	return queuetest.Serve(t, &server.Options{TLS: true, TLSConfig: &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return shown.Load(), nil },
	}})
}

// TestABadCertificateIsNamedAndWaitedFor: a server with a good one may take its place.
func TestABadCertificateIsNamedAndWaitedFor(t *testing.T) {
	t.Parallel()
	known, other := queuetest.NewAuthority(t), queuetest.NewAuthority(t)
	var shown atomic.Pointer[tls.Certificate]
	shown.Store(other.Issue("localhost", time.Now().Add(time.Hour)))
	ns := shows(t, &shown)
	e := enter(t, settings{NATSURL: fmt.Sprintf("tls://localhost:%d", queuetest.Port(t, ns)), NATSCA: known.File})
	line := e.lines.Until(t, `"message":"waiting"`)[0]
	for _, words := range []string{"SLUICE_NATS_CA", "localhost:", "unknown authority"} {
		if !strings.Contains(line, words) {
			t.Errorf("the log says %s, not %s", line, words)
		}
	}
	if got := e.state(); got != "waiting for nats: the server's certificate is not accepted" {
		t.Errorf("/readyz says %q", got)
	}
	shown.Store(known.Issue("localhost", time.Now().Add(time.Hour)))
	if seen := e.lines.Until(t, `"message":"waited"`); len(seen) != 1 {
		t.Errorf("the log says %q, want no second line about it", seen)
	}
	if err := e.end(); err != nil {
		t.Error(err)
	}
}

// TestARunningProcessTellsWhatKeepsItOut: its server comes back with another certificate.
func TestARunningProcessTellsWhatKeepsItOut(t *testing.T) {
	t.Parallel()
	known, other := queuetest.NewAuthority(t), queuetest.NewAuthority(t)
	good, bad := known.Issue("localhost", time.Now().Add(time.Hour)), other.Issue("localhost", time.Now().Add(time.Hour))
	var shown atomic.Pointer[tls.Certificate]
	shown.Store(good)
	ns := shows(t, &shown)
	e := enter(t, settings{NATSURL: fmt.Sprintf("tls://localhost:%d", queuetest.Port(t, ns)), NATSCA: known.File})
	if err := <-e.ended; err != nil {
		t.Fatal(err)
	}
	state := func(want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, err := e.engine.check(ctx); got != want || (err == nil) != (want == "ready") {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	state("ready")
	shown.Store(bad)
	id, err := e.engine.nc.GetClientID()
	if err != nil {
		t.Fatal(err)
	}
	if err := ns.DisconnectClientByID(id); err != nil {
		t.Fatal(err)
	}
	e.lines.Until(t, "nats does not let us in")
	state("away: the server's certificate is not accepted")
	shown.Store(good)
	e.lines.Until(t, "nats lets us in again")
	state("ready")
	e.ended <- nil
	if err := e.end(); err != nil {
		t.Error(err)
	}
}

// TestWhatNoWaitingCuresEndsTheStart with one line that names the setting to look at.
func TestWhatNoWaitingCuresEndsTheStart(t *testing.T) {
	t.Parallel()
	operator := queuetest.NewOperator(t)
	account := operator.Account("ours", func(c *jwt.AccountClaims) { c.Limits.DiskStorage = jwt.NoLimit })
	guarded := fmt.Sprintf("127.0.0.1:%d", queuetest.Port(t, queuetest.Serve(t, operator.Options())))
	open := fmt.Sprintf("127.0.0.1:%d", queuetest.Port(t, queuetest.Serve(t, &server.Options{})))
	relay := queuetest.NewRelay(t, open)
	relay.Claim("2.11.9")
	expired, _ := account.Creds(func(c *jwt.UserClaims) { c.Expires = time.Now().Add(-time.Minute).Unix() })
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		s     settings
		start string
		words string
	}{
		"expired credentials":       {settings{NATSURL: guarded, NATSCreds: expired}, "SLUICE_NATS_CREDS: ", "Authorization Violation"},
		"no credentials":            {settings{NATSURL: guarded}, "SLUICE_NATS_CREDS, or user and password in SLUICE_NATS_URL: ", "Authorization Violation"},
		"unreadable credentials":    {settings{NATSURL: open, NATSCreds: garbage}, "SLUICE_NATS_CREDS: ", garbage},
		"unreadable authorities":    {settings{NATSURL: open, NATSCA: garbage}, "SLUICE_NATS_CA: ", garbage},
		"a server that is too old":  {settings{NATSURL: relay.Addr}, "connect to nats: ", `nats-server "2.11.9", 2.12.0 or newer is needed`},
		"an address that is none":   {settings{NATSURL: open + ",nats://"}, "SLUICE_NATS_URL: ", "address 2 of 2"},
		"refused, and another away": {settings{NATSURL: "127.0.0.1:1," + guarded}, "SLUICE_NATS_CREDS, ", "nobody listens there; "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enter(t, c.s)
			err := e.end()
			if err == nil {
				t.Fatal("it started")
			}
			text := err.Error()
			if !strings.HasPrefix(text, c.start) || !strings.Contains(text, c.words) || strings.Contains(text, "\n") {
				t.Errorf("%q, want one line with %q and %q", text, c.start, c.words)
			}
			if n := len(e.lines); n > 0 {
				t.Errorf("%d lines in the log too: %q", n, <-e.lines)
			}
		})
	}
}

// TestAnAccountThatMayTooLittleIsNamed: servers do not answer what they deny.
func TestAnAccountThatMayTooLittleIsNamed(t *testing.T) {
	t.Parallel()
	operator := queuetest.NewOperator(t)
	url := fmt.Sprintf("127.0.0.1:%d", queuetest.Port(t, queuetest.Serve(t, operator.Options())))
	stored := operator.Account("stored", func(c *jwt.AccountClaims) { c.Limits.DiskStorage = jwt.NoLimit })
	for _, c := range []struct {
		account     *queuetest.Account
		user        func(*jwt.UserClaims)
		state, line string
	}{
		{stored, func(c *jwt.UserClaims) { c.Pub.Deny.Add("$JS.API.>") }, "the account's permissions do not suffice", `to \"$JS.API.STREAM.INFO.KV_rules\"`},
		{operator.Account("plain", func(*jwt.AccountClaims) {}), func(*jwt.UserClaims) {}, "the account has no JetStream", "not enabled for account"},
	} {
		t.Run(c.state, func(t *testing.T) {
			t.Parallel()
			creds, _ := c.account.Creds(c.user)
			e := enter(t, settings{NATSURL: url, NATSCreds: creds})
			seen := e.lines.Until(t, `"message":"waiting"`)
			line := seen[len(seen)-1]
			if !strings.Contains(line, "SLUICE_NATS_CREDS") || !strings.Contains(line, c.line) {
				t.Errorf("the log says %s, want the setting and %s", line, c.line)
			}
			if got := e.state(); got != "waiting for rules: "+c.state {
				t.Errorf("/readyz says %q", got)
			}
			e.cancel()
			if err := e.end(); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want the stop", err)
			}
		})
	}
}
