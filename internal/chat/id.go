package chat

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"strings"
)

var (
	ticketID  = regexp.MustCompile(`^t_[A-Z2-7]{26}$`)
	sessionID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	tenantID  = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	batchID   = regexp.MustCompile(`^b_[A-Z2-7]{26}$`)
)

// NewTicketID returns a new random ticket id: "t_" and 26 characters of base 32
// (130 bits), safe in a subject, a key and a URL.
func NewTicketID() string { return "t_" + rand.Text() }

// DerivedTicketID returns the ticket id that belongs to what the parts name: whoever
// derives it from the same parts has the same, so that the creation of its ticket lets
// one of them in. The first part says what kind of thing it is.
func DerivedTicketID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "t_" + base32.StdEncoding.EncodeToString(sum[:])[:26]
}

// NewSessionID returns a new random session id: "s_" and 26 characters.
func NewSessionID() string { return "s_" + rand.Text() }

// IsTicketID reports whether s has the form of a ticket id. Whoever puts an id from
// outside into a subject or a key asks this first.
func IsTicketID(s string) bool { return ticketID.MatchString(s) }

// IsSessionID reports whether s may name a session: 1 to 64 of A-Z a-z 0-9 _ -.
func IsSessionID(s string) bool { return sessionID.MatchString(s) }

// IsTenantName reports whether s may name a tenant: 1 to 32 of a-z 0-9 -.
func IsTenantName(s string) bool { return tenantID.MatchString(s) }
