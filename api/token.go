package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"strings"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// tokenPrefix begins every session token.
const tokenPrefix = "st_"

// newSessionToken returns a token that reopens one session of a tenant, and the form
// in which the session's record keeps it. The tenant stands in it in the clear,
// because a poll with nothing but the token must find the session's record.
func newSessionToken(tenant string) (token, hash string) {
	token = tokenPrefix + tenant + "." + rand.Text()
	return token, chat.HashKey(token)
}

// tokenTenant returns the tenant that a token claims to be of. Only opens proves it.
func tokenTenant(token string) (tenant string, ok bool) {
	rest, found := strings.CutPrefix(token, tokenPrefix)
	tenant, _, cut := strings.Cut(rest, ".")
	return tenant, found && cut && chat.IsTenantName(tenant)
}

// identityToken returns the token that whoever reopens a session by its identity gets: the
// first one is stored as a hash alone, and another one in its place would shut out the tabs
// that hold it. It is made from the tenant's identity secret, so that it is the same each
// time and good for nothing once that secret is another one. "": the session is nobody's.
func identityToken(t chat.Tenant, id string, s queue.Session) string {
	if s.Identity == "" || t.IdentitySecret == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(t.IdentitySecret))
	_, _ = mac.Write([]byte("session token\n" + t.Name + "\n" + id + "\n" + s.Identity)) // no JWT holds a newline
	return tokenPrefix + t.Name + "." + base32.StdEncoding.EncodeToString(mac.Sum(nil)[:20])
}

// opens reports whether token is one that reopens the tenant's session of that id. Its time
// tells nothing about what is stored.
func opens(t chat.Tenant, id string, s queue.Session, token string) bool {
	if s.TokenHash != "" && subtle.ConstantTimeCompare([]byte(s.TokenHash), []byte(chat.HashKey(token))) == 1 {
		return true
	}
	known := identityToken(t, id, s)
	return known != "" && subtle.ConstantTimeCompare([]byte(known), []byte(token)) == 1
}
