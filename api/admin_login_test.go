package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
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
	if in.status != http.StatusOK || strings.Contains(set, "Secure") || in.text("csrf") == "" || in.text("actor") != "admin" {
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

func TestAnotherPasswordEndsTheLogins(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.cookie, f.csrf = f.login()
	hash, err := bcrypt.GenerateFromPassword([]byte("another"), bcrypt.MinCost)
	must(t, err)
	must(t, f.queue.SetAdmin(t.Context(), "admin", string(hash)))
	refused(t, f.admin("GET", "session", nil), http.StatusUnauthorized, "unauthorized")
}

func TestAttemptsAreLimitedByAddressInBoundedMemory(t *testing.T) {
	t.Parallel()
	a, now := newAttempts(), time.Now()
	for i := range loginBurst {
		if wait := a.try("[2001:db8::1]:1", now); wait != 0 {
			t.Fatalf("try %d waits %s", i, wait)
		}
	}
	if wait := a.try("[2001:db8::2]:2", now); wait != loginEvery {
		t.Errorf("the same network waits %s, want %s", wait, loginEvery)
	}
	if wait := a.try("192.0.2.1:1", now); wait != 0 {
		t.Errorf("another address waits %s", wait)
	}
	now = now.Add(loginEvery)
	if wait := a.try("[2001:db8::1]:1", now); wait != 0 {
		t.Errorf("later it waits %s", wait)
	}
	for i := range 3 * loginAddrs {
		a.try(fmt.Sprintf("10.%d.%d.1:1", i/256, i%256), now)
	}
	if n := len(a.byAddr); n > loginAddrs {
		t.Errorf("%d addresses are remembered", n)
	}
	if wait := a.try("192.0.2.9:1", now); wait == 0 {
		t.Error("all together are not limited")
	}
	now = now.Add(time.Hour)
	if a.try("192.0.2.9:1", now); len(a.byAddr) != 1 {
		t.Errorf("%d addresses are remembered although nothing is held against them", len(a.byAddr)-1)
	}
}

func TestOpsTokensOpenWhatALoginOpens(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	made := f.admin("POST", "tokens", with(map[string]any{"name": "deploy"}))
	token := made.text("token")
	if made.status != http.StatusCreated || !strings.HasPrefix(token, "ot_deploy.") || made.text("actor") != "admin" {
		t.Fatalf("%d %s", made.status, made.raw)
	}
	refused(t, f.admin("POST", "tokens", with(map[string]any{"name": "deploy"})), http.StatusConflict, "exists")
	if a := f.call("POST", "/admin/api/lanes/low/pause", token, why); a.status != http.StatusOK || a.text("actor") != "token:deploy" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	refused(t, f.call("POST", "/admin/api/tokens", token, with(map[string]any{"name": "child"})), http.StatusForbidden, "login_only")
	list := f.admin("GET", "tokens", nil)
	if !strings.Contains(string(list.raw), `"deploy"`) || strings.Contains(string(list.raw), "hash") || strings.Contains(string(list.raw), token) {
		t.Errorf("%s", list.raw)
	}
	for _, wrong := range []string{"ot_deploy.x", "ot_deploy", "ot_nobody.x", "ot_.x", "ot_a.b.c*>", f.demo.Secret, token + "x"} {
		refused(t, f.call("GET", "/admin/api/overview", wrong, nil), http.StatusUnauthorized, "unauthorized")
	}
	refused(t, f.admin("DELETE", "tokens/nobody", why), http.StatusNotFound, "not_found")
	if a := f.admin("DELETE", "tokens/deploy", why); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.raw)
	}
	refused(t, f.call("GET", "/admin/api/overview", token, nil), http.StatusUnauthorized, "unauthorized")
}

func TestARefusalTakesAsLongForNobody(t *testing.T) {
	t.Parallel()
	if cost, err := bcrypt.Cost([]byte(nobodysHash)); err != nil || cost != bcrypt.DefaultCost {
		t.Errorf("cost %d, %v; want that of a stored password", cost, err)
	}
}
