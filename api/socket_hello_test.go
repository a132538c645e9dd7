package api

import (
	"maps"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/golang-jwt/jwt/v5"

	"sluice/internal/chat"
)

func TestHelloIsRefused(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{Hello: 400 * time.Millisecond})
	c, welcome := r.hello(nil)
	must(t, c.conn.CloseNow())
	session, token := welcome.text("session"), welcome.text("token")
	unowned := frame{"session": "s-http", "token": token}
	r.submit(map[string]any{"message": "by HTTP", "session_id": "s-http"})
	for name, one := range map[string]struct {
		more    frame
		headers []string
		code    websocket.StatusCode
	}{
		"unknown key":       {more: frame{"key": "pk_" + "A"}, code: closeBadKey},
		"secret key":        {more: frame{"key": r.demo.Secret}, code: closeBadKey},
		"no key":            {more: frame{"key": ""}, code: closeBadKey},
		"no token":          {more: frame{"session": session}, code: closeBadKey},
		"wrong token":       {more: frame{"session": session, "token": token + "A"}, code: closeBadKey},
		"unknown session":   {more: frame{"session": chat.NewSessionID(), "token": token}, code: closeBadKey},
		"bad session id":    {more: frame{"session": "a.b", "token": token}, code: closeBadKey},
		"other tenant's":    {more: frame{"key": r.shop.Publishable, "session": session, "token": token}, code: closeBadKey},
		"session of a key":  {more: unowned, code: closeBadKey},
		"empty identity":    {more: frame{"identity": ""}, code: closeBadKey},
		"identity and none": {more: frame{"session": session, "token": token, "identity": "x.y.z"}, code: closeBadKey},
		"foreign origin":    {headers: []string{"Origin", "https://evil.example"}, code: closeOrigin},
		"no page's origin":  {headers: []string{"Origin", "null"}, code: closeOrigin},
		"two origins":       {headers: []string{"Origin", "http://localhost", "Origin", "https://evil.example"}, code: closeOrigin},
		"bad locale":        {more: frame{"locale": "*"}, code: closeBadFrame},
		"unknown field":     {more: frame{"colour": "red"}, code: closeBadFrame},
		"negative after":    {more: frame{"after": -1}, code: closeBadFrame},
		"not a hello":       {more: frame{"type": "ping"}, code: closeBadFrame},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := r.dial(one.headers...)
			c.t = t
			c.say(r.greeting(one.more))
			c.closedWith(one.code)
		})
	}
	c = r.dial()
	c.closedWith(closeSlow) // no hello in time
	conn, _, err := websocket.Dial(t.Context(), r.url, nil)
	must(t, err)
	(&client{t: t, conn: conn}).closedWith(closeBadFrame) // no subprotocol
}

func TestHelloReopensASession(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	_, welcome := r.hello(nil)
	_, second := r.hello(again(welcome, 0))
	if second.text("session") != welcome.text("session") || second.text("token") != welcome.text("token") {
		t.Errorf("reopened %v as %v", welcome, second)
	}
}

func TestHelloReopensASessionByItsIdentity(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	tenant, err := r.queue.Tenant(t.Context(), "demo")
	must(t, err)
	ann := signed(tenant.IdentitySecret, "demo", "ann", time.Hour)
	bob := signed(tenant.IdentitySecret, "demo", "bob", time.Hour)
	c, welcome := r.hello(frame{"identity": ann})
	c.say(frame{"type": "send", "cmid": "1", "text": "hello"})
	s, err := r.queue.Ticket(t.Context(), c.hear("ack").text("ticket"))
	must(t, err)
	if s.Customer == nil || s.Customer.ID != "ann" {
		t.Errorf("the ticket's customer is %v", s.Customer)
	}
	session := welcome.text("session")
	_, second := r.hello(frame{"session": session, "identity": ann})
	if second.text("session") != session || second.text("token") == "" {
		t.Errorf("reopened as %v", second)
	}
	for name, more := range map[string]frame{
		"somebody else's identity":           {"session": session, "identity": bob},
		"somebody else with the token":       {"session": session, "identity": bob, "token": welcome.text("token")},
		"the right identity, a wrong token":  {"session": session, "identity": ann, "token": "st_demo.A"},
		"an expired identity with the token": {"session": session, "identity": signed(tenant.IdentitySecret, "demo", "ann", -time.Second), "token": welcome.text("token")},
	} {
		c := r.dial()
		c.say(r.greeting(more))
		if code, _ := c.closed(); code != closeBadKey {
			t.Errorf("%s: closed with %d", name, code)
		}
	}
	// A session that nobody has claimed becomes the property of who shows token and identity.
	_, anonymous := r.hello(nil)
	more := again(anonymous, 0)
	more["identity"] = bob
	r.hello(more)
	_, third := r.hello(frame{"session": anonymous.text("session"), "identity": bob})
	if third.text("session") != anonymous.text("session") {
		t.Errorf("reopened as %v", third)
	}
}

// Who reopened a session by an identity goes on with the token when that has run out, and no
// other tab loses its own.
func TestAnIdentityGetsATokenThatOutlivesIt(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	tenant, err := r.queue.Tenant(t.Context(), "demo")
	must(t, err)
	ann := signed(tenant.IdentitySecret, "demo", "ann", time.Hour)
	_, first := r.hello(frame{"identity": ann})
	_, other := r.hello(frame{"identity": ann})
	session := first.text("session")
	_, second := r.hello(frame{"session": session, "identity": ann})
	_, third := r.hello(frame{"session": session, "identity": ann})
	token := second.text("token")
	if third.text("token") != token || token == first.text("token") {
		t.Errorf("tokens %q and %q", token, third.text("token"))
	}
	for _, welcome := range []frame{first, second} {
		_, resumed := r.hello(again(welcome, 0))
		if resumed.text("session") != session || resumed.text("token") != welcome.text("token") {
			t.Errorf("resumed as %v", resumed)
		}
	}
	events := "/v1/sessions/" + session + "/events"
	if a := r.call("GET", events, token, nil); a.status != http.StatusOK {
		t.Errorf("a poll with it: %d", a.status)
	}
	refused := func(what string, more frame) {
		t.Helper()
		c := r.dial()
		c.say(r.greeting(more))
		if code, reason := c.closed(); code != closeBadKey || reason != badToken {
			t.Errorf("%s: closed with %d, %s", what, code, reason)
		}
	}
	refused("another session of the same customer", frame{"session": other.text("session"), "token": token})
	tenant.IdentitySecret = "is_another"
	must(t, r.queue.SetTenant(t.Context(), tenant))
	refused("another identity secret", frame{"session": session, "token": token})
	r.hello(again(first, 0))
}

// What is null is not there: neither an identity that is refused nor one that counts.
func TestNullIsNoField(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	c, welcome := r.hello(frame{"identity": nil, "session": nil, "token": nil, "after": nil, "locale": nil})
	c.say(frame{"type": "send", "cmid": "1", "text": "hello", "phone": nil})
	s, err := r.queue.Ticket(t.Context(), c.hear("ack").text("ticket"))
	must(t, err)
	if s.Phone != "" || s.Customer != nil {
		t.Errorf("the ticket is of %v at %q", s.Customer, s.Phone)
	}
	body := map[string]any{"message": "hello"}
	for _, name := range []string{"session_id", "lane", "max_wait", "phone", "callback_url", "locale", "customer", "metadata"} {
		body[name] = nil
	}
	if a := r.call("POST", "/v1/tickets", r.demo.Secret, body); a.status != http.StatusAccepted {
		t.Errorf("over HTTP: %d %s", a.status, a.raw)
	}
	more := again(welcome, 0)
	more["identity"] = nil
	_, resumed := r.hello(more)
	if resumed.text("session") != welcome.text("session") {
		t.Errorf("resumed as %v", resumed)
	}
	for name, f := range map[string]frame{
		"no text": {"type": "send", "cmid": "2", "text": nil}, "no cmid": {"type": "send", "cmid": nil, "text": "hello"},
		"no ticket": {"type": "cancel", "ticket": nil}, "no seq": {"type": "read", "seq": nil},
		"nothing on": {"type": "typing", "on": nil}, "no score": {"type": "rate", "ticket": chat.NewTicketID(), "score": nil, "comment": nil},
		"no type": {"type": nil},
	} {
		c, _ := r.hello(nil)
		c.say(f)
		if name == "no text" {
			if got := c.hear("error"); got.text("code") != codeInvalid {
				t.Errorf("%s: %v", name, got)
			}
			continue
		}
		if code, _ := c.closed(); code != closeBadFrame {
			t.Errorf("%s: closed with %d", name, code)
		}
	}
}

func signed(secret, tenant, sub string, life time.Duration) string {
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"sub": sub, "aud": tenant, "exp": time.Now().Add(life).Unix(),
	}).SignedString([]byte(secret))
	if err != nil {
		panic(err)
	}
	return token
}

func TestIdentityMustBeExact(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tenant := chat.Tenant{Name: "demo", IdentitySecret: "is_secret"}
	sign := func(method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
		token, err := jwt.NewWithClaims(method, claims).SignedString(key)
		must(t, err)
		return token
	}
	good := func(change jwt.MapClaims) jwt.MapClaims {
		claims := jwt.MapClaims{"sub": "ann", "aud": "demo", "exp": now.Add(time.Hour).Unix()}
		maps.Copy(claims, change)
		return claims
	}
	secret := []byte("is_secret")
	if sub, err := verifyIdentity(sign(jwt.SigningMethodHS256, secret, good(nil)), tenant, now); err != nil || sub != "ann" {
		t.Fatalf("a good identity: %q %v", sub, err)
	}
	if sub, err := verifyIdentity(sign(jwt.SigningMethodHS256, secret, good(jwt.MapClaims{"aud": []string{"x", "demo"}})), tenant, now); err != nil || sub != "ann" {
		t.Errorf("one of several audiences: %q %v", sub, err)
	}
	extended := jwt.NewWithClaims(jwt.SigningMethodHS256, good(nil))
	extended.Header["crit"] = []string{"b64"}
	critical, err := extended.SignedString(secret)
	must(t, err)
	for name, token := range map[string]string{
		"critical":        critical,
		"expiry as text":  sign(jwt.SigningMethodHS256, secret, good(jwt.MapClaims{"exp": strconv.FormatInt(now.Add(time.Hour).Unix(), 10)})),
		"issued later":    sign(jwt.SigningMethodHS256, secret, good(jwt.MapClaims{"iat": now.Add(2 * time.Minute).Unix()})),
		"empty":           "",
		"no signature":    sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(nil)),
		"HS512":           sign(jwt.SigningMethodHS512, secret, good(nil)),
		"other secret":    sign(jwt.SigningMethodHS256, []byte("is_other"), good(nil)),
		"empty secret":    sign(jwt.SigningMethodHS256, []byte(""), good(nil)),
		"no expiry":       sign(jwt.SigningMethodHS256, secret, jwt.MapClaims{"sub": "ann", "aud": "demo"}),
		"expired":         sign(jwt.SigningMethodHS256, secret, good(jwt.MapClaims{"exp": now.Add(-time.Second).Unix()})),
		"lives too long":  sign(jwt.SigningMethodHS256, secret, good(jwt.MapClaims{"exp": now.Add(time.Hour + time.Minute).Unix()})),
		"not yet":         sign(jwt.SigningMethodHS256, secret, good(jwt.MapClaims{"nbf": now.Add(time.Minute).Unix()})),
		"other audience":  sign(jwt.SigningMethodHS256, secret, good(jwt.MapClaims{"aud": "shop"})),
		"no audience":     sign(jwt.SigningMethodHS256, secret, jwt.MapClaims{"sub": "ann", "exp": now.Add(time.Hour).Unix()}),
		"no subject":      sign(jwt.SigningMethodHS256, secret, good(jwt.MapClaims{"sub": ""})),
		"control subject": sign(jwt.SigningMethodHS256, secret, good(jwt.MapClaims{"sub": "a\x00b"})),
	} {
		if sub, err := verifyIdentity(token, tenant, now); err == nil {
			t.Errorf("%s: taken as %q", name, sub)
		}
	}
	bare := sign(jwt.SigningMethodHS256, []byte{}, good(nil))
	if _, err := verifyIdentity(bare, chat.Tenant{Name: "demo"}, now); err == nil {
		t.Error("a tenant without a secret took an identity signed with none")
	}
}

func TestOriginsAreHeldAgainstTheTenantsList(t *testing.T) {
	t.Parallel()
	shop := chat.Tenant{Origins: []string{"https://shop.example", "https://www.shop.example:8443/"}}
	demo := chat.Tenant{Loopback: true}
	for _, one := range []struct {
		tenant  chat.Tenant
		origins []string
		want    bool
	}{
		{shop, []string{"https://shop.example"}, true},
		{shop, []string{"https://SHOP.example"}, true},
		{shop, []string{"https://www.shop.example:8443"}, true},
		{shop, []string{"http://shop.example"}, false},
		{shop, []string{"https://shop.example:8443"}, false},
		{shop, []string{"https://shop.example.evil.example"}, false},
		{shop, []string{"http://localhost:8080"}, false},
		{shop, []string{"null"}, false},
		{shop, nil, false},
		{demo, nil, true},
		{demo, []string{"http://localhost:8080"}, true},
		{demo, []string{"http://app.localhost"}, true},
		{demo, []string{"https://127.0.0.2"}, true},
		{demo, []string{"http://[::1]:9"}, true},
		{demo, []string{"http://localhost.evil.example"}, false},
		{demo, []string{"http://10.0.0.1"}, false},
		{demo, []string{"file://localhost"}, false},
		{demo, []string{"http://localhost", "http://localhost"}, false},
		{demo, []string{""}, false},
	} {
		if got := allowedOrigin(one.tenant, one.origins); got != one.want {
			t.Errorf("origins %q: %v, want %v", one.origins, got, one.want)
		}
	}
}
