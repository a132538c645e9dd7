package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// Times of a remote connection. The client's own defaults would outlast the
// controller's lease: 2 s between two tries, and minutes until a silent server is left.
const (
	dialLimit     = 2 * time.Second
	reconnectWait = 100 * time.Millisecond
	pingEvery     = 2 * time.Second
	pingsLost     = 2
)

// RemoteConfig says where a NATS cluster is and how to enter it.
type RemoteConfig struct {
	URL   string // one address, or several with commas between; tls:// in one asks all for TLS. Required.
	Creds string // credentials file, read at each entry. Defaults to none.
	CA    string // file with the authorities that sign the servers' certificates, read at each entry. Defaults to the system's.
	Name  string // of this process, for the servers' lists. Defaults to "sluice".
	Log   zerolog.Logger
}

// Validate names the field that is wrong. It does not show addresses: they may hold passwords.
func (c RemoteConfig) Validate() error {
	all := c.addresses()
	for i, addr := range all {
		u, err := url.Parse(addr)
		if err == nil && !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return fmt.Errorf("remote config: URL: address %d of %d must begin with nats:// or tls://, not %s://", i+1, len(all), u.Scheme)
		}
		if err != nil || u.Hostname() == "" {
			return fmt.Errorf("remote config: URL: address %d of %d is none (scheme://user:password@host:port, the first two escaped)", i+1, len(all))
		}
	}
	return nil
}

// addresses returns each address of URL with its scheme.
func (c RemoteConfig) addresses() []string {
	all := strings.Split(c.URL, ",")
	for i, addr := range all {
		if all[i] = strings.TrimSpace(addr); !strings.Contains(addr, "://") {
			all[i] = "nats://" + all[i]
		}
	}
	return all
}

// Connect enters the cluster by the first server that lets us in, in an order that
// spreads processes over the servers. The connection then looks for a server until it is
// closed; its log tells what keeps it out meanwhile. The caller closes it. An error is one
// line with what is wrong at each address, in words that do not change from one call to
// the next: ErrCreds, ErrAuthority, ErrVersion and ErrCertificate are in it where they
// apply, and without the first three another call may succeed.
func Connect(ctx context.Context, cfg RemoteConfig) (*nats.Conn, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	w := newWatch(cfg.Log)
	opts, err := cfg.options(w)
	if err != nil {
		return nil, fmt.Errorf("connect to nats: %w", err)
	}
	all := cfg.addresses()
	faults := make([]error, len(all))
	order := rand.Perm(len(all))
	for turn, i := range order {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("connect to nats: %w", err)
		}
		nc, err := enter(opts, all[i])
		if err != nil {
			faults[i] = fmt.Errorf("%s: %w", hostOf(all[i]), err)
			continue
		}
		var pool []string
		for k := range order {
			pool = append(pool, all[order[(turn+k)%len(order)]])
		}
		if err := nc.SetServerPool(pool); err != nil {
			nc.Close()
			return nil, fmt.Errorf("connect to nats: %w", err)
		}
		w.follow(nc)
		return nc, nil
	}
	return nil, fmt.Errorf("connect to nats: %w", onOneLine(faults))
}

// options are those of every server. The files are looked into now: later on the client
// would only say that a server cannot be entered.
func (c RemoteConfig) options(w *watch) (nats.Options, error) {
	o := nats.GetDefaultOptions()
	o.Name = orDefault(c.Name, "sluice")
	o.Timeout, o.PingInterval, o.MaxPingsOut = dialLimit, pingEvery, pingsLost
	o.MaxReconnect = -1
	// The client would close itself for good at the second refusal. Credentials are
	// renewed in their file, and an account may come back.
	o.IgnoreAuthErrorAbort = true
	o.CustomReconnectDelayCB = w.pause
	o.ReconnectedCB, o.AsyncErrorCB = w.entered, w.complaint
	if strings.Contains(c.URL, "tls://") || strings.Contains(c.URL, "wss://") {
		if err := nats.Secure()(&o); err != nil {
			return o, err
		}
	}
	if c.CA != "" {
		if err := nats.RootCAs(c.CA)(&o); err != nil {
			return o, fmt.Errorf("%w: %w", ErrAuthority, err)
		}
	}
	if c.Creds != "" {
		if err := nats.UserCredentials(c.Creds)(&o); err != nil {
			return o, fmt.Errorf("%w: %w", ErrCreds, err)
		}
		if _, err := o.SignatureCB([]byte("a nonce")); err != nil {
			return o, fmt.Errorf("%w: %w", ErrCreds, err)
		}
	}
	return o, nil
}

// enter tries one server, once.
func enter(o nats.Options, addr string) (*nats.Conn, error) {
	o.Servers = []string{addr}
	nc, err := o.Connect()
	if err != nil {
		return nil, fault(err)
	}
	switch version := nc.ConnectedServerVersion(); {
	case version == "":
		nc.Close()
		return nil, errors.New("the server left at once, or does not tell its version")
	case !newEnough(version):
		nc.Close()
		return nil, tooOld(version)
	}
	return nc, nil
}
