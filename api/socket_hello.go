package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// An identity lives for an hour at most; a little more for clocks that differ.
const (
	identityLife = time.Hour
	identitySkew = 5 * time.Second
	issuedSkew   = time.Minute // the most that an identity's clock may be ahead of ours
)

// badToken is the reason of a close that a client answers by beginning a new session.
const badToken = "bad token"

var (
	errBadToken    = errors.New(badToken)
	errBadIdentity = errors.New("bad identity")
)

// greet answers the first frame: it finds out who is there, opens the session, sends
// the welcome and starts the feed. false: the socket is ending.
func (k *socket) greet(ctx context.Context, data []byte) bool {
	kind, err := frameType(data)
	hello, err2 := decodeFrame[helloFrame](data)
	if err != nil || err2 != nil || kind != "hello" || (hello.Locale != "" && !locale.MatchString(hello.Locale)) {
		k.end(closeBadFrame, "the first frame must be a hello")
		return false
	}
	token, ok := k.identify(ctx, hello)
	if !ok {
		return false
	}
	k.locale, k.name = hello.Locale, rand.Text()
	f, ok := k.openFeed(ctx, hello.After)
	if !ok {
		return false
	}
	greeted := k.write(ctx, welcomeFrame{
		Type: "welcome", Session: k.session, Token: token, Head: f.head, Recovered: f.recovered,
		Limits: limitsFrame{
			FrameBytes: maxFrame, TextCharacters: chat.MaxMessage,
			SendsPerSecond: k.cfg.Rate, SendsAtOnce: k.cfg.Burst,
		},
		PingS: k.cfg.Ping.Seconds(),
	})
	if !greeted {
		f.listener.close()
		return false
	}
	k.feeds.Store(true)
	k.wg.Go(func() { f.run(ctx) })
	return true
}

// identify finds the tenant, holds the origin against its list, verifies the identity
// and opens the session. It returns a token that reopens the session.
func (k *socket) identify(ctx context.Context, hello helloFrame) (token string, ok bool) {
	t, err := k.queue.TenantByPublishable(ctx, hello.Key)
	switch {
	case errors.Is(err, queue.ErrNotFound):
		k.end(closeBadKey, "bad key")
		return "", false
	case err != nil:
		k.unavailable(err)
		return "", false
	case !allowedOrigin(t, k.origin):
		k.end(closeOrigin, "the origin is not allowed")
		return "", false
	}
	k.tenant = t
	sub := ""
	if hello.Identity != nil {
		if sub, err = verifyIdentity(*hello.Identity, t, time.Now()); err != nil {
			k.log.Debug().Err(err).Str("tenant", t.Name).Msg("identity refused")
			k.end(closeBadKey, errBadIdentity.Error())
			return "", false
		}
	}
	token, err = k.openSession(ctx, hello, sub)
	switch {
	case errors.Is(err, errBadToken):
		k.end(closeBadKey, badToken)
		return "", false
	case err != nil:
		k.unavailable(err)
		return "", false
	}
	if code, reason := k.join(k, talk{t.Name, k.session}); code != 0 {
		k.end(code, reason)
		return "", false
	}
	k.presence.back(ctx, talk{t.Name, k.session})
	return token, true
}

// openSession makes a session, or opens the one that the hello names with its token or
// with the identity that it belongs to. A token that is wrong is never made up for by
// anything else. errBadToken also stands for a session of somebody else and for none.
func (k *socket) openSession(ctx context.Context, hello helloFrame, sub string) (token string, err error) {
	id, hash := hello.Session, ""
	rec := queue.Session{}
	if id == "" {
		id = chat.NewSessionID()
		token, hash = newSessionToken(k.tenant.Name)
	} else {
		if !chat.IsSessionID(id) {
			return "", errBadToken
		}
		if rec, err = k.queue.Session(ctx, k.tenant.Name, id); errors.Is(err, queue.ErrNotFound) {
			return "", errBadToken
		}
		if err != nil {
			return "", err
		}
		token = hello.Token
		known := sub != "" && rec.Identity == sub
		if (token == "" && !known) || (token != "" && !opens(k.tenant, id, rec, token)) {
			return "", errBadToken
		}
		if token == "" {
			token = identityToken(k.tenant, id, rec)
		}
	}
	if hash != "" || (sub != "" && rec.Identity != sub) {
		rec, err = k.queue.ChangeSession(ctx, k.tenant.Name, id, func(s *queue.Session) bool {
			if s.Identity != "" {
				return false
			}
			s.Identity = sub
			if hash != "" {
				s.TokenHash = hash
			}
			return true
		})
		if err != nil {
			return "", err
		}
	}
	// Two customers with one browser: the second must not read what the first wrote.
	if sub != "" && rec.Identity != sub {
		return "", errBadToken
	}
	k.session = id
	if rec.Identity != "" {
		k.customer = &chat.Customer{ID: rec.Identity}
	}
	return token, nil
}

// verifyIdentity returns the customer that a signed identity names. Whatever is not
// exactly as it must be is refused.
func verifyIdentity(token string, t chat.Tenant, now time.Time) (string, error) {
	if t.IdentitySecret == "" {
		return "", fmt.Errorf("%w: tenant %s has no identity secret", errBadIdentity, t.Name)
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithAudience(t.Name),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(func() time.Time { return now }),
	)
	claims := jwt.MapClaims{} // takes a number for a time, and no text that holds one
	read, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return []byte(t.IdentitySecret), nil })
	if err != nil {
		return "", fmt.Errorf("%w: %w", errBadIdentity, err)
	}
	if _, critical := read.Header["crit"]; critical {
		return "", fmt.Errorf("%w: it asks for extensions, and none is known", errBadIdentity)
	}
	expires, errExp := claims.GetExpirationTime()
	issued, errIat := claims.GetIssuedAt()
	subject, errSub := claims.GetSubject()
	if err := errors.Join(errExp, errIat, errSub); err != nil {
		return "", fmt.Errorf("%w: %w", errBadIdentity, err)
	}
	if expires.After(now.Add(identityLife + identitySkew)) {
		return "", fmt.Errorf("%w: expires more than %s from now", errBadIdentity, identityLife)
	}
	if issued != nil && issued.After(now.Add(issuedSkew)) {
		return "", fmt.Errorf("%w: it was issued in the future", errBadIdentity)
	}
	if subject == "" || checkText("sub", subject, maxCustomer) != nil {
		return "", fmt.Errorf("%w: its subject is empty or too long", errBadIdentity)
	}
	return subject, nil
}

// allowedOrigin reports whether a page of the origin may open sockets with the
// tenant's key. Clients that are no browsers send none.
func allowedOrigin(t chat.Tenant, origins []string) bool {
	if len(origins) == 0 {
		return t.Loopback
	}
	if len(origins) > 1 {
		return false
	}
	origin := origins[0]
	if slices.ContainsFunc(t.Origins, func(allowed string) bool { return strings.EqualFold(strings.TrimSuffix(allowed, "/"), origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || !t.Loopback || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || (ip != nil && ip.IsLoopback())
}

// unavailable ends the socket because a dependency did not answer.
func (k *socket) unavailable(err error) {
	k.log.Warn().Err(err).Str("stage", "api").Str("tenant", k.tenant.Name).Msg("socket closed, the engine does not answer")
	k.end(closeUnavailable, "temporarily unavailable")
}
