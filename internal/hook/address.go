// Package hook sends webhooks: signed by Standard Webhooks, each try anew, and only to
// addresses that are nobody's inside. It knows nothing of when or how often.
package hook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// ErrPrivate says that an address belongs to a network that callers from outside must not
// reach through us.
var ErrPrivate = errors.New("the address is not a public one")

// special are the ranges that look public and are not: shared, reserved, for documents and
// measurements, and what clouds answer their own machines on. IPv6 is public in 2000::/3 alone.
var (
	publicSix = netip.MustParsePrefix("2000::/3")
	special   = prefixes(
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "168.63.129.16/32",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	)
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// Public reports whether an address may be called for somebody outside: it is neither
// private, loopback, link-local, shared, multicast nor reserved, however it is written.
func Public(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Is6() && !publicSix.Contains(addr) {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// CheckURL refuses a URL that names an address which is not public. One that names a host is
// judged when the host is looked up, each time anew.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("read the URL: %w", errors.Unwrap(err))
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	addr, err := netip.ParseAddr(host)
	switch {
	case host == "localhost", strings.HasSuffix(host, ".localhost"), err == nil && !Public(addr):
		return ErrPrivate
	}
	return nil
}

// guard is a dialer's control: it judges the very address that is about to be connected to,
// so that no answer of a name server gets around it.
func guard(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("read the address: %w", err)
	}
	if !Public(to.Addr()) {
		return ErrPrivate
	}
	return nil
}
