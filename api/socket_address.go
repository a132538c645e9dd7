package api

import (
	"net"
	"net/http"
	"net/netip"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"sluice/internal/rules"
)

// addressBurst is how many seconds' worth an address may open or send at once.
const addressBurst = 5

// network64 is what one household or host has of IPv6.
const network64 = 64

// networkOf returns whose limits a request counts for: an address, or the /64 of one. Not
// valid: the machine's own, which is not limited. What proxies say is believed of those
// that the rules name, and of this machine's.
func networkOf(r *http.Request, proxies []string) netip.Prefix {
	trusted := []echo.TrustOption{echo.TrustLoopback(true), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range proxies {
		if _, network, err := net.ParseCIDR(p); err == nil {
			trusted = append(trusted, echo.TrustIPRange(network))
		}
	}
	ip, err := netip.ParseAddr(echo.ExtractIPFromXFFHeader(trusted...)(r))
	if err != nil || ip.Unmap().IsLoopback() {
		return netip.Prefix{}
	}
	ip = ip.Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = network64
	}
	network, _ := ip.Prefix(bits) // of its own length
	return network
}

// address is what one network has open, and how fast it opens and sends.
type address struct {
	open         int
	opens, sends *rate.Limiter
}

func newAddress(l rules.Sockets) *address {
	return &address{
		opens: rate.NewLimiter(rate.Limit(l.Opens), burst(l.Opens)), sends: rate.NewLimiter(rate.Limit(l.Sends), burst(l.Sends)),
	}
}

func burst(perSecond float64) int { return max(1, int(addressBurst*perSecond)) }

// rested reports whether nothing is open, and forgetting it changes no limit.
func (a *address) rested() bool { return a.open == 0 && a.opens.Tokens() >= float64(a.opens.Burst()) }

// addresses is every network that has or had sockets lately, at most twice as many as
// sockets. It is guarded by sockets.mu.
type addresses map[netip.Prefix]*address

// enter counts a socket of a network; nil: the machine's own. ok is false where the
// network has too many, or opens them too fast. leave must follow.
func (all addresses) enter(network netip.Prefix, l rules.Sockets) (a *address, ok bool) {
	if !network.IsValid() {
		return nil, true
	}
	a = all[network]
	if a == nil {
		all.makeRoom(2 * l.Max)
		a = newAddress(l)
		all[network] = a
	}
	a.opens.SetLimit(rate.Limit(l.Opens)) // rules may have changed
	a.sends.SetLimit(rate.Limit(l.Sends))
	a.open++
	return a, a.opens.Allow() && a.open <= l.PerAddress
}

// makeRoom forgets networks without sockets once there are most of them: those that have
// rested, and where that is not enough the others too.
func (all addresses) makeRoom(most int) {
	if len(all) < most {
		return
	}
	for network, a := range all {
		if a.rested() {
			delete(all, network)
		}
	}
	if len(all) < most {
		return
	}
	for network, a := range all {
		if a.open == 0 {
			delete(all, network)
		}
	}
}

func (a *address) leave() {
	if a != nil {
		a.open--
	}
}
