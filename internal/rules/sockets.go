package rules

import (
	"fmt"
	"net/netip"
	"time"
)

// Sockets limits the chat's sockets. Each limit is of one process; who is beyond one is
// closed and told why.
type Sockets struct {
	Max        int `yaml:"max"`         // open at once, 1 to 20,000. Defaults to 20,000.
	PerTenant  int `yaml:"per_tenant"`  // of one tenant, at least 1. Defaults to 10,000.
	PerSession int `yaml:"per_session"` // of one session, at least 1. Defaults to 10.
	// PerAddress is the most of one address (IPv6: of one /64), at least 1. Defaults to 200.
	PerAddress int `yaml:"per_address"`
	// Opens is how many an address may open in a second, above 0. Defaults to 20.
	Opens float64 `yaml:"opens"`
	// Sends is how many messages may come from one address in a second, above 0. Defaults to 20.
	Sends float64 `yaml:"sends"`
	// Proxies are the networks whose word for a client's address is taken: its
	// X-Forwarded-For, from the right. The machine's own addresses always are.
	Proxies []string `yaml:"proxies"`
	// Spread is the longest time over which clients come back after a goaway, 1s to 10m.
	// Defaults to 30s.
	Spread time.Duration `yaml:"spread"`
	// Returns is how many clients a second may come back: fewer sockets spread over less
	// time. At least 1. Defaults to 500.
	Returns int `yaml:"returns"`
}

// maxSockets is what the connections of one process have room for, beside HTTP.
const maxSockets = 20_000

// maxProxies bounds the list of networks.
const maxProxies = 100

// DefaultSockets returns what a document without the heading says.
func DefaultSockets() Sockets {
	return Sockets{
		Max: maxSockets, PerTenant: 10_000, PerSession: 10, PerAddress: 200, Opens: 20, Sends: 20,
		Spread: 30 * time.Second, Returns: 500,
	}
}

func (d *document) checkSockets(s Sockets) {
	d.count("sockets.max", s.Max, 1, maxSockets)
	d.count("sockets.per_tenant", s.PerTenant, 1, 0)
	d.count("sockets.per_session", s.PerSession, 1, 0)
	d.count("sockets.per_address", s.PerAddress, 1, 0)
	d.count("sockets.returns", s.Returns, 1, 0)
	d.span("sockets.spread", s.Spread, time.Second, 10*minute)
	d.pace("sockets.opens", s.Opens)
	d.pace("sockets.sends", s.Sends)
	if len(s.Proxies) > maxProxies {
		d.fault("sockets.proxies", "must hold at most %d networks, holds %d", maxProxies, len(s.Proxies))
	}
	for i, p := range s.Proxies {
		if _, err := netip.ParsePrefix(p); err != nil {
			d.fault(fmt.Sprintf("sockets.proxies[%d]", i), "must be a network such as 10.0.0.0/8, is %s", quote(p))
		}
	}
}

// pace wants so many a second.
func (d *document) pace(path string, perSecond float64) {
	if !(perSecond > 0 && perSecond <= 1e6) {
		d.fault(path, "must be above 0 and at most 1000000, is %v", perSecond)
	}
}
