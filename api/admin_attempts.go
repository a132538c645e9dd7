package api

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// How often logins may be tried: of one address, of all together, and how many addresses
// are told apart. A password's slow hash costs some 60 ms of a core.
const (
	loginBurst  = 5
	loginEvery  = 10 * time.Second
	loginsBurst = 20
	loginsEvery = 500 * time.Millisecond
	loginAddrs  = 1024
)

// attempts limits tries to log in at this node. It is safe for concurrent use.
type attempts struct {
	mu     sync.Mutex // guards what follows
	all    *rate.Limiter
	others *rate.Limiter // shared by the addresses beyond loginAddrs
	byAddr map[string]*rate.Limiter
}

func newAttempts() *attempts {
	one := func() *rate.Limiter { return rate.NewLimiter(rate.Every(loginEvery), loginBurst) }
	return &attempts{
		all: rate.NewLimiter(rate.Every(loginsEvery), loginsBurst), others: one(), byAddr: map[string]*rate.Limiter{},
	}
}

// try takes one try of an address at now; a wait above 0 refuses it.
func (t *attempts) try(remote string, now time.Time) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.limiter(blockOf(remote), now)
	if wait := delay(own, now); wait > 0 {
		return wait
	}
	return delay(t.all, now)
}

func (t *attempts) limiter(addr string, now time.Time) *rate.Limiter {
	if l := t.byAddr[addr]; l != nil {
		return l
	}
	if len(t.byAddr) >= loginAddrs {
		for old, l := range t.byAddr {
			if l.TokensAt(now) >= loginBurst {
				delete(t.byAddr, old) // nothing is held against it any more
			}
		}
	}
	if len(t.byAddr) >= loginAddrs {
		return t.others
	}
	l := rate.NewLimiter(rate.Every(loginEvery), loginBurst)
	t.byAddr[addr] = l
	return l
}

// delay takes a token, or returns when there will be one.
func delay(l *rate.Limiter, now time.Time) time.Duration {
	r := l.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// blockOf returns what one person has of addresses: of IPv6 a whole network.
func blockOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Unmap().Is4() {
		return host
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return host
	}
	return network.String()
}
