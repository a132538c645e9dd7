package api

import (
	"crypto/rand"
	"crypto/subtle"
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

// opens reports whether token is the one that reopens the session. Its time tells
// nothing about the stored hash.
func opens(s queue.Session, token string) bool {
	return s.TokenHash != "" && subtle.ConstantTimeCompare([]byte(s.TokenHash), []byte(chat.HashKey(token))) == 1
}
