package api

import (
	"net/http"
	"net/netip"
	"testing"

	"sluice/internal/rules"
)

func TestSocketsAreCounted(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	r := socketRigOn(f, nil, SocketConfig{})
	r.limit(func(l *rules.Sockets) { l.Max = 1 })
	first, welcome := r.hello(nil)
	r.dial().closedWith(closeTooMany)
	r.limit(func(l *rules.Sockets) { l.PerTenant = 1 }) // in force for who comes now
	second := r.dial()
	second.say(r.greeting(nil))
	second.closedWith(closeTooMany)
	other := r.dial()
	other.say(r.greeting(frame{"key": f.shop.Publishable}))
	other.hear("welcome")
	r.limit(func(l *rules.Sockets) { l.PerSession = 1 })
	twice, _ := r.hello(again(welcome, 0)) // the older one may be a ghost of a lost network
	first.closedWith(closeTooManyHere)
	twice.say(frame{"type": "send", "cmid": "a", "text": "hello"})
	twice.hear("ack")
}

// TestAnAddressIsLimited whatever the client calls itself, and whatever it says of itself
// where it is not a proxy that is trusted.
func TestAnAddressIsLimited(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	r.limit(func(l *rules.Sockets) { l.PerAddress, l.Opens, l.Sends = 2, 0.8, 0.4 }) // 4 and 2 at once
	from := func(address string) *client {
		c := r.dial("X-Forwarded-For", address)
		c.say(r.greeting(nil))
		return c
	}
	one, two := from("203.0.113.7"), from("203.0.113.7")
	one.hear("welcome")
	two.hear("welcome")
	from("203.0.113.7").closedWith(closeTooMany)
	from("203.0.113.8").hear("welcome")
	// What one sends counts for both.
	for i, c := range []*client{one, two, one} {
		c.say(frame{"type": "send", "cmid": string(rune('a' + i)), "text": "hello"})
		want := "ack"
		if i == 2 {
			want = "error"
		}
		if f := c.hear(want); i == 2 && (f.text("code") != codeRateLimited || f["temporary"] != true || f.number("retry_after_ms") < 1) {
			t.Errorf("a third message: %v", f)
		}
	}
	must(t, one.conn.CloseNow())
	must(t, two.conn.CloseNow())
	r.empty("203.0.113.7/32")
	from("203.0.113.7").hear("welcome")
	from("203.0.113.7").closedWith(closeTooMany) // the fifth in a moment
	// The machine's own are not limited: proxies and tests.
	for range 5 {
		r.hello(nil)
	}
}

// empty waits until a network has no socket any more.
func (r *socketRig) empty(network string) {
	r.t.Helper()
	key := netip.MustParsePrefix(network)
	r.eventually("no socket of "+network, func() bool {
		r.sockets.mu.Lock()
		defer r.sockets.mu.Unlock()
		return r.sockets.addresses[key].open == 0
	})
}

func TestWhoseAddressCounts(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ peer, forwarded, want string }{
		{"127.0.0.1:9", "", ""},
		{"[::1]:9", "", ""},
		{"203.0.113.7:9", "", "203.0.113.7/32"},
		{"203.0.113.7:9", "198.51.100.1", "203.0.113.7/32"}, // nobody's word for it
		{"127.0.0.1:9", "198.51.100.1", "198.51.100.1/32"},
		{"127.0.0.1:9", "1.1.1.1, 198.51.100.1", "198.51.100.1/32"}, // the first was the client's own word
		{"10.1.2.3:9", "1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1/32"},
		{"10.1.2.3:9", "nonsense", "10.1.2.3/32"},
		{"192.168.0.1:9", "198.51.100.1", "192.168.0.1/32"},
		{"[2001:db8:1:2:3:4:5:6]:9", "", "2001:db8:1:2::/64"},
		{"[::ffff:203.0.113.7]:9", "", "203.0.113.7/32"},
	} {
		r := &http.Request{RemoteAddr: one.peer, Header: http.Header{}}
		if one.forwarded != "" {
			r.Header.Set("X-Forwarded-For", one.forwarded)
		}
		got := ""
		if network := networkOf(r, []string{"10.0.0.0/8"}); network.IsValid() {
			got = network.String()
		}
		if got != one.want {
			t.Errorf("peer %s, forwarded %q: %q, want %q", one.peer, one.forwarded, got, one.want)
		}
	}
}

func TestAddressesThatLeftAreForgotten(t *testing.T) {
	t.Parallel()
	l, all := rules.DefaultSockets(), addresses{}
	l.Max, l.Opens = 10, 0.01 // burst of one: none rests soon
	at := func(i int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)}), 32)
	}
	kept, _ := all.enter(at(0), l)
	for i := 1; i < 1000; i++ {
		a, ok := all.enter(at(i), l)
		if !ok || len(all) > 2*l.Max {
			t.Fatalf("address %d: %v, %d are kept", i, ok, len(all))
		}
		a.leave()
	}
	if all[at(0)] != kept {
		t.Error("one with a socket was forgotten")
	}
}
