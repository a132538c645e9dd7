package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// as returns a node for the calls of another operator.
func (f *fixture) as(name string) *fixture {
	f.t.Helper()
	other := *f
	other.cookie, other.csrf = f.enter(name)
	return &other
}

func TestOperatorsAreAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	one, two := all[0], all[1]
	mei := map[string]any{"name": "mei", "role": "viewer", "password": "a long password"}
	added := one.admin("POST", "operators", with(mei))
	if added.status != http.StatusCreated || added.text("role") != "viewer" || strings.Contains(string(added.raw), "password") {
		t.Fatalf("%d %s", added.status, added.raw)
	}
	refused(t, one.admin("POST", "operators", with(mei)), http.StatusConflict, "exists")
	login := two.call("POST", "/admin/api/login", "", map[string]any{"user": "mei", "password": "a long password"})
	if login.status != http.StatusOK || login.text("role") != "viewer" {
		t.Fatalf("%d %s", login.status, login.raw)
	}
	for _, c := range []struct {
		method, path string
		body         map[string]any
	}{
		{"PUT", "operators/mei", map[string]any{"role": "operator"}},
		{"PUT", "operators/mei", map[string]any{"role": "viewer"}}, // the former role again: its logins do not come back
		{"PUT", "operators/mei", map[string]any{"password": "another password"}},
		{"DELETE", "operators/mei", nil},
	} {
		hers := two.as("mei")
		if a := hers.admin("GET", "session", nil); a.status != http.StatusOK || a.text("actor") != "mei" || a.text("role") == "" {
			t.Fatalf("before %s %v: %d %s", c.method, c.body, a.status, a.raw)
		}
		if a := one.admin(c.method, c.path, with(c.body)); a.status >= http.StatusBadRequest {
			t.Fatalf("%s %v: %d %s", c.method, c.body, a.status, a.raw)
		}
		refused(t, hers.admin("GET", "session", nil), http.StatusUnauthorized, "unauthorized")
	}
	var list struct{ Operators []OperatorInfo }
	raw := one.admin("GET", "operators", nil).raw
	must(t, json.Unmarshal(raw, &list))
	if len(list.Operators) != 1 || list.Operators[0].Name != "admin" || strings.Contains(string(raw), "hash") || strings.Contains(string(raw), "mark") {
		t.Errorf("%s", raw)
	}
	for _, c := range []struct {
		body map[string]any
		code int
	}{
		{map[string]any{"name": "x", "role": "owner", "password": "a long password"}, 400},
		{map[string]any{"name": "X", "role": "viewer", "password": "a long password"}, 400},
		{map[string]any{"name": "x", "role": "viewer", "password": "elevenchars"}, 400},
		{map[string]any{"name": "x", "role": "viewer", "password": strings.Repeat("x", 1025)}, 400},
	} {
		refused(t, one.admin("POST", "operators", with(c.body)), c.code, "invalid")
	}
	refused(t, one.admin("PUT", "operators/admin", why), http.StatusBadRequest, "invalid")
	refused(t, one.admin("PUT", "operators/nobody", with(map[string]any{"role": "viewer"})), http.StatusNotFound, "not_found")
	refused(t, one.admin("DELETE", "operators/nobody", why), http.StatusNotFound, "not_found")
	refused(t, one.call("DELETE", "/admin/api/operators/admin", one.token(chat.Admin), why), http.StatusForbidden, "login_only")
}

func TestThereIsAlwaysAnAdmin(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	one := all[0]
	refused(t, one.admin("DELETE", "operators/admin", why), http.StatusConflict, "last_admin")
	refused(t, one.admin("PUT", "operators/admin", with(map[string]any{"role": "operator"})), http.StatusConflict, "last_admin")
	one.hire("second", chat.Admin)
	// Each of the last two removes the other one, on two nodes at once.
	var both sync.WaitGroup
	answers := make([]answer, 2)
	for i, c := range []struct {
		by     *fixture
		target string
	}{{all[0].as("admin"), "second"}, {all[1].as("second"), "admin"}} {
		both.Go(func() { answers[i] = c.by.admin("DELETE", "operators/"+c.target, why) })
	}
	both.Wait()
	staff, err := one.queue.Staff(t.Context())
	must(t, err)
	if staff.Admins() != 1 {
		t.Errorf("%d admins are left; the answers: %d %s, %d %s", staff.Admins(), answers[0].status, answers[0].raw, answers[1].status, answers[1].raw)
	}
}

func TestThereAreAHundredOperatorsAtMost(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	must(t, f.queue.ChangeStaff(t.Context(), func(s *queue.Staff) error {
		for i := range queue.MaxOperators - 1 {
			s.Put(queue.NewOperator(fmt.Sprint("viewer-", i), chat.Viewer, adminHash, time.Now()))
		}
		return nil
	}))
	one := map[string]any{"name": "one-more", "role": "viewer", "password": "a long password"}
	refused(t, f.admin("POST", "operators", with(one)), http.StatusConflict, "exists")
}

func TestOnesOwnPasswordIsChangedWithTheOldOne(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.hire("mei", chat.Viewer)
	hers := f.as("mei")
	refused(t, hers.admin("POST", "password", map[string]any{"old": "not it at all", "new": "a new password"}), http.StatusForbidden, "wrong_password")
	refused(t, hers.admin("POST", "password", map[string]any{"old": adminPassword, "new": "too short"}), http.StatusBadRequest, "invalid")
	refused(t, f.call("POST", "/admin/api/password", f.token(chat.Viewer), map[string]any{"old": adminPassword, "new": "a new password"}), http.StatusForbidden, "login_only")
	if a := hers.admin("POST", "password", map[string]any{"old": adminPassword, "new": "a new password"}); a.status != http.StatusNoContent {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	refused(t, hers.admin("GET", "session", nil), http.StatusUnauthorized, "unauthorized")
	refused(t, f.call("POST", "/admin/api/login", "", map[string]any{"user": "mei", "password": adminPassword}), http.StatusUnauthorized, "unauthorized")
	if a := f.call("POST", "/admin/api/login", "", map[string]any{"user": "mei", "password": "a new password"}); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.raw)
	}
	hers = f.as("mei")
	for range 20 { // a slow machine may take as long as it takes to be let in once more
		if hers.admin("POST", "password", map[string]any{"old": "not it", "new": "a new password"}).status == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("whoever has a login may guess its password")
}

// TestAnEarlierVersionsHashOpensOnce and is replaced; the login that it opened holds.
func TestAnEarlierVersionsHashOpensOnce(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	old, err := bcrypt.GenerateFromPassword([]byte("old"), bcrypt.MinCost) // shorter than passwords may be today
	must(t, err)
	must(t, f.queue.ChangeStaff(t.Context(), func(s *queue.Staff) error {
		s.Put(queue.NewOperator("admin", chat.Admin, string(old), time.Now()))
		return nil
	}))
	earlier := f.as("admin")
	if a := f.call("POST", "/admin/api/login", "", map[string]any{"user": "admin", "password": "old"}); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	staff, err := f.queue.Staff(t.Context())
	must(t, err)
	if o, _ := staff.Find("admin"); !strings.HasPrefix(o.Hash, "$argon2id$") || o.LastLoginAt == nil {
		t.Errorf("%+v", o)
	}
	if a := earlier.admin("GET", "session", nil); a.status != http.StatusOK {
		t.Errorf("a new hash of the same password ended a login: %d %s", a.status, a.raw)
	}
}

// TestAKnownBrowserGetsInWhileStrangersTry: what they use up is not its own.
func TestAKnownBrowserGetsInWhileStrangersTry(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	right := map[string]string{"user": "admin", "password": adminPassword}
	first := f.call("POST", "/admin/api/login", "", right)
	var device string
	for _, set := range first.header["Set-Cookie"] {
		if strings.HasPrefix(set, deviceCookie+"=") {
			device, _, _ = strings.Cut(set, ";")
			if !strings.Contains(set, "Path=/admin/api/login") || !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") {
				t.Errorf("cookie %q", set)
			}
		}
	}
	for !f.exhausted(right) {
	}
	for _, cookie := range []string{deviceCookie + "=x.00", device + "00", strings.Replace(device, "=", "=x", 1)} {
		refused(t, f.call("POST", "/admin/api/login", "", right, "Cookie", cookie), http.StatusTooManyRequests, "rate_limited")
	}
	if a := f.call("POST", "/admin/api/login", "", right, "Cookie", device); a.status != http.StatusOK {
		t.Errorf("a known browser: %d %s", a.status, a.raw)
	}
	other := map[string]string{"user": "mei", "password": adminPassword}
	refused(t, f.call("POST", "/admin/api/login", "", other, "Cookie", device), http.StatusTooManyRequests, "rate_limited")
}

// exhausted tries a wrong password and reports whether strangers are refused by now. The
// network's tokens are spent at once, so that slow hashes do not let them come back.
func (f *fixture) exhausted(map[string]string) bool {
	f.logins.mu.Lock()
	f.logins.address.of(networkOf(&http.Request{RemoteAddr: "127.0.0.1:1"}, nil).String(), time.Now()).SetBurst(0)
	f.logins.mu.Unlock()
	return f.call("POST", "/admin/api/login", "", map[string]string{"user": "admin", "password": "wrong"}).status == http.StatusTooManyRequests
}

func TestAChangeFromAnotherOriginsPageIsRefused(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.origins = ownOrigins("https://chat.example/")
	login := map[string]string{"user": "admin", "password": "wrong"}
	for _, c := range []struct {
		headers []string
		own     bool
	}{
		{nil, true},
		{[]string{"Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Origin", f.url}, true},
		{[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://chat.example"}, true}, // a proxy hides the address
		{[]string{"Sec-Fetch-Site", "same-site"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, false},
		{[]string{"Origin", "https://evil.example"}, false},
		{[]string{"Origin", "null"}, false},
	} {
		a := f.admin("POST", "lanes/low/pause", why, c.headers...)
		in := f.call("POST", "/admin/api/login", "", login, c.headers...)
		if c.own && (a.status != http.StatusOK || in.status == http.StatusForbidden) {
			t.Errorf("%v: %d %s, login %d", c.headers, a.status, a.raw, in.status)
		}
		if !c.own {
			refused(t, a, http.StatusForbidden, "origin")
			refused(t, in, http.StatusForbidden, "origin")
		}
		if read := f.admin("GET", "overview", nil, c.headers...); read.status != http.StatusOK {
			t.Errorf("%v: to read: %d", c.headers, read.status)
		}
	}
}
