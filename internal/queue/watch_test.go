package queue

import (
	"crypto/tls"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"sluice/internal/queue/queuetest"
)

// several waits until the connection has tried again and again.
func several[T any](t *testing.T, tries <-chan T) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for n := range 5 {
		select {
		case <-tries:
		case <-limit.C:
			t.Fatalf("it tried %d times, and no more", n)
		}
	}
}

// drop ends a connection as a server does that is replaced.
func drop(t *testing.T, ns *server.Server, nc *nats.Conn) {
	t.Helper()
	id, err := nc.GetClientID()
	if err != nil {
		t.Fatal(err)
	}
	if err := ns.DisconnectClientByID(id); err != nil {
		t.Fatal(err)
	}
}

// TestAnOpenConnectionOutlivesBadCredentials: the user is revoked, then not any more.
func TestAnOpenConnectionOutlivesBadCredentials(t *testing.T) {
	t.Parallel()
	operator := queuetest.NewOperator(t)
	account := operator.Account("ours", unlimited)
	ns := queuetest.Serve(t, operator.Options())
	update := func(change func(*jwt.AccountClaims)) {
		acc, err := ns.LookupAccount(account.ID)
		if err != nil {
			t.Fatal(err)
		}
		ns.UpdateAccountClaims(acc, account.Change(change))
	}
	relay := queuetest.NewRelay(t, fmt.Sprintf("127.0.0.1:%d", queuetest.Port(t, ns)))
	creds, user := account.Creds(func(*jwt.UserClaims) {})
	lines, log := queuetest.NewLog()
	nc := enters(t, RemoteConfig{URL: relay.Addr, Creds: creds, Log: log})

	update(func(c *jwt.AccountClaims) { c.Revoke(user) })
	lines.Until(t, ErrCreds.Error())
	for len(relay.Dialed) > 0 {
		<-relay.Dialed
	}
	several(t, relay.Dialed)
	update(func(c *jwt.AccountClaims) { c.ClearRevocation(user) })
	if seen := lines.Until(t, "nats lets us in again"); len(seen) != 1 {
		t.Errorf("the log says %q, want one line for the reason and one for the return", seen)
	}
	if !nc.IsConnected() {
		t.Error("is not connected")
	}
}

// TestAnOpenConnectionOutlivesABadCertificate: the server shows another, then a good one.
func TestAnOpenConnectionOutlivesABadCertificate(t *testing.T) {
	t.Parallel()
	known, other := queuetest.NewAuthority(t), queuetest.NewAuthority(t)
	until := time.Now().Add(time.Hour)
	good, bad := known.Issue("localhost", until), other.Issue("localhost", until)
	var shown atomic.Pointer[tls.Certificate]
	bads := make(chan bool, 1000)
	shown.Store(good)
	ns := queuetest.Serve(t, &server.Options{TLS: true, TLSConfig: &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			cert := shown.Load()
			if cert == bad {
				bads <- true
			}
			return cert, nil
		},
	}})
	lines, log := queuetest.NewLog()
	nc := enters(t, RemoteConfig{URL: fmt.Sprintf("tls://localhost:%d", queuetest.Port(t, ns)), CA: known.File, Log: log})
	shown.Store(bad)
	drop(t, ns, nc)
	lines.Until(t, ErrCertificate.Error())
	several(t, bads)
	shown.Store(good)
	if seen := lines.Until(t, "nats lets us in again"); len(seen) != 1 {
		t.Errorf("the log says %q, want one line for the reason and one for the return", seen)
	}
}

func TestAServerThatIsTooOldIsNotEntered(t *testing.T) {
	t.Parallel()
	port := queuetest.Port(t, queuetest.Serve(t, &server.Options{}))
	relay := queuetest.NewRelay(t, fmt.Sprintf("127.0.0.1:%d", port))
	relay.Claim("2.11.9")
	keptOut(t, RemoteConfig{URL: relay.Addr}, ErrVersion, relay.Addr, `"2.11.9"`, "2.12.0 or newer")
	relay.Claim("2.12.0-RC.1")
	enters(t, RemoteConfig{URL: relay.Addr})
	// Where versions are mixed, a new one is entered.
	relay.Claim("2.11.9")
	nc := enters(t, RemoteConfig{URL: fmt.Sprintf("%s,127.0.0.1:%d", relay.Addr, port)})
	if version := nc.ConnectedServerVersion(); version != server.VERSION {
		t.Errorf("entered a server of version %s", version)
	}
}

func TestAReturnToAServerThatIsTooOldIsTold(t *testing.T) {
	t.Parallel()
	relay := queuetest.NewRelay(t, fmt.Sprintf("127.0.0.1:%d", queuetest.Port(t, queuetest.Serve(t, &server.Options{}))))
	lines, log := queuetest.NewLog()
	enters(t, RemoteConfig{URL: relay.Addr, Log: log})
	for range 2 {
		relay.Claim("2.9.25")
		relay.Cut()
		seen := lines.Until(t, "nats server is too old")
		if line := seen[len(seen)-1]; !strings.Contains(line, "2.9.25") || !strings.Contains(line, `"level":"warn"`) {
			t.Errorf("the log says %s", line)
		}
	}
}

func TestVersionsAreCompared(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"2.12.0": true, "2.12.1-RC.1": true, "2.12.0-RC.2": true, "2.14.3": true, "2.100.0": true, "3.0.0": true, "v2.12.4": true,
		"2.11.99": false, "2.9.25": false, "1.99.99": false, "2.11.0-preview.2": false,
		"": false, "2": false, "2.12": false, "latest": false, "2.x.1": false, "-3.0.0": false,
	} {
		if got := newEnough(version); got != want {
			t.Errorf("%q is new enough: %v, want %v", version, got, want)
		}
	}
}

func TestOtherComplaintsAreBounded(t *testing.T) {
	t.Parallel()
	ns := queuetest.Serve(t, &server.Options{})
	lines, log := queuetest.NewLog()
	w := newWatch(log)
	nc := enters(t, RemoteConfig{URL: fmt.Sprintf("127.0.0.1:%d", queuetest.Port(t, ns))})
	for n := range 100 {
		w.complaint(nc, nil, fmt.Errorf("denied to publish to %d", n))
		w.tell(fmt.Errorf("reason %d", n))
	}
	if got := len(lines); got != 5+maxReasons {
		t.Errorf("%d lines in the log, want 5 complaints and %d reasons", got, maxReasons)
	}
}
