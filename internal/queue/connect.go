package queue

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
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
	URL   string // one address, or several with commas between; tls:// asks for TLS. Required.
	Creds string // credentials file. Defaults to none.
	CA    string // file with the authorities that sign the servers' certificates. Defaults to the system's.
	Name  string // of this process, for the servers' lists. Defaults to "sluice".
}

// Validate names the field that is wrong.
func (c RemoteConfig) Validate() error {
	for url := range strings.SplitSeq(c.URL, ",") {
		if strings.TrimSpace(url) == "" {
			return fmt.Errorf("remote config: URL must be addresses with commas between, is %q", c.URL)
		}
	}
	return nil
}

// Connect returns a connection that looks for a server until it is closed, also when
// none can be reached yet. Refused tells whether that is of no use. The caller closes it.
func Connect(cfg RemoteConfig) (*nats.Conn, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	opts := []nats.Option{
		nats.Name(orDefault(cfg.Name, "sluice")), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(reconnectWait, reconnectWait),
		nats.Timeout(dialLimit), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsLost),
	}
	if cfg.Creds != "" {
		opts = append(opts, nats.UserCredentials(cfg.Creds))
	}
	if cfg.CA != "" {
		opts = append(opts, nats.RootCAs(cfg.CA))
	}
	nc, err := nats.Connect(cfg.URL, opts...)
	if err != nil {
		return nil, fmt.Errorf("connect to nats: %w", err)
	}
	return nc, nil
}

// Refused returns why the servers do not let a connection in, or nil while another try
// may succeed.
func Refused(nc *nats.Conn) error {
	err := nc.LastError()
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || nc.IsClosed() {
		return fmt.Errorf("connect to nats: %w", errors.Join(err, errClosed(nc)))
	}
	return nil
}

func errClosed(nc *nats.Conn) error {
	if nc.IsClosed() {
		return nats.ErrConnectionClosed
	}
	return nil
}
