package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestALoginHoldsOnEveryNodeUntilItsEnd(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	one, two := all[0], all[1]
	refused(t, one.call("GET", "/admin/api/overview", "", nil), http.StatusUnauthorized, "unauthorized")
	in := one.call("POST", "/admin/api/login", "", map[string]string{"user": "admin", "password": adminPassword})
	set := in.header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/admin", "Max-Age=43200"} {
		if !strings.Contains(set, part) {
			t.Errorf("cookie %q lacks %s", set, part)
		}
	}
	if in.status != http.StatusOK || strings.Contains(set, "Secure") || in.text("csrf") == "" || in.text("actor") != "admin" || in.text("role") != "admin" {
		t.Errorf("%d %s, cookie %q", in.status, in.raw, set)
	}
	one.cookie, one.csrf = one.login()
	two.cookie, two.csrf = one.cookie, one.csrf
	if a := two.admin("GET", "session", nil); a.status != http.StatusOK || a.text("csrf") != one.csrf {
		t.Errorf("at the other node: %d %s", a.status, a.raw)
	}
	if a := one.admin("POST", "logout", nil); a.status != http.StatusNoContent || !strings.Contains(a.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout: %d %v", a.status, a.header)
	}
	refused(t, two.admin("GET", "session", nil), http.StatusUnauthorized, "unauthorized")
}

func TestTheCookieIsSecureWhereThePublicURLIs(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.cfg.PublicURL = "https://chat.example"
	if c := f.API.cookie("x", 1); !c.Secure {
		t.Error("not secure")
	}
}

func TestAChangeWithACookieNeedsItsToken(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.cookie, f.csrf = f.login()
	right := f.csrf
	for _, wrong := range []string{"", "x", right + "x"} {
		f.csrf = wrong
		refused(t, f.admin("POST", "lanes/low/pause", why), http.StatusForbidden, "csrf")
		if a := f.admin("GET", "overview", nil); a.status != http.StatusOK {
			t.Errorf("to read it is not needed: %d %s", a.status, a.raw)
		}
	}
	f.csrf = right
	if a := f.admin("POST", "lanes/low/pause", why); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestWrongPasswordsAreRefusedAndCounted(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	tries := []map[string]string{
		{"user": "admin", "password": "wrong"}, {"user": "nobody", "password": adminPassword},
		{"user": "../admin", "password": adminPassword}, {"user": "admin", "password": strings.Repeat("x", 1000)},
		{"user": "Ädmin", "password": "x"},
	}
	for _, body := range tries {
		refused(t, f.call("POST", "/admin/api/login", "", body), http.StatusUnauthorized, "unauthorized")
	}
	// The right one is no better now. On a slow machine the hashes above may have taken as
	// long as it takes to be let in once more.
	right := map[string]string{"user": "admin", "password": adminPassword}
	for range 20 {
		if f.call("POST", "/admin/api/login", "", tries[0]).status == http.StatusTooManyRequests {
			break
		}
	}
	refused(t, f.call("POST", "/admin/api/login", "", right), http.StatusTooManyRequests, "rate_limited")
	for _, cookie := range []string{"", loginCookie + "=", loginCookie + "=os_x", loginCookie + "=../x"} {
		refused(t, f.call("GET", "/admin/api/overview", "", nil, "Cookie", cookie), http.StatusUnauthorized, "unauthorized")
	}
}

func TestAttemptsAreLimitedInBoundedMemory(t *testing.T) {
	t.Parallel()
	a, now := newAttempts(), time.Now()
	for i := range loginBurst {
		if wait := a.try("2001:db8::/64", "admin", "", now); wait != 0 {
			t.Fatalf("try %d waits %s", i, wait)
		}
	}
	if wait := a.try("2001:db8::/64", "other", "", now); wait != loginEvery {
		t.Errorf("the same network waits %s, want %s", wait, loginEvery)
	}
	if wait := a.try("192.0.2.1/32", "admin", "", now); wait != 0 {
		t.Errorf("another network waits %s", wait)
	}
	now = now.Add(loginEvery)
	if wait := a.try("2001:db8::/64", "admin", "", now); wait != 0 {
		t.Errorf("later it waits %s", wait)
	}
	for i := range 3 * loginNames {
		a.try(fmt.Sprintf("10.%d.%d.1/32", i/256, i%256), fmt.Sprint("user-", i), "", now)
		a.try("", "admin", fmt.Sprint(i), now)
	}
	for name, l := range map[string]*tries{"networks": a.address, "users": a.user, "browsers": a.device} {
		if n := len(l.byName); n > loginNames {
			t.Errorf("%d %s are remembered", n, name)
		}
	}
	if wait := a.try("192.0.2.9/32", "another", "", now); wait == 0 {
		t.Error("all together are not limited")
	}
	now = now.Add(time.Hour)
	if a.try("192.0.2.9/32", "admin", "", now); len(a.address.byName) != 1 {
		t.Errorf("%d networks are remembered although nothing is held against them", len(a.address.byName)-1)
	}
}

// TestStrangersLockNobodyOut: a name may be tried from everywhere until it is used up, for
// strangers alone.
func TestStrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	a, now, tried := newAttempts(), time.Now(), 0
	for i := range 2 * userBurst {
		if a.try(fmt.Sprintf("192.0.2.%d/32", i), "admin", "", now) == 0 {
			tried++
		}
	}
	if tried != userBurst {
		t.Errorf("%d tries of one name from everywhere, want %d", tried, userBurst)
	}
	if wait := a.try("198.51.100.1/32", "other", "", now); wait != 0 {
		t.Errorf("another user waits %s", wait)
	}
	for i := range loginBurst + 1 {
		if wait := a.try("192.0.2.1/32", "admin", "known", now); (wait > 0) != (i == loginBurst) {
			t.Errorf("try %d of a known browser waits %s", i+1, wait)
		}
	}
}
