package chat

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Tenant is a calling business. Its secret key is stored only as a hash.
type Tenant struct {
	Name string `json:"name"`
	Lane Lane   `json:"lane"` // the best lane that its tickets may use
	// Origins may open sockets with the publishable key. Loopback allows every
	// loopback origin and clients that send no Origin.
	Origins        []string  `json:"origins,omitempty"`
	Loopback       bool      `json:"loopback,omitempty"`
	IdentitySecret string    `json:"identity_secret"` // signs the customer's identity (HS256)
	SecretHash     string    `json:"secret_hash"`
	PublicHash     string    `json:"public_hash"`
	Publishable    string    `json:"publishable_key"` // in the clear: it may stand in any page
	CreatedAt      time.Time `json:"created_at"`
}

// Keys are a tenant's keys in the clear, shown once.
type Keys struct {
	Secret      string `json:"secret_key"`      // sk_…: HTTP
	Publishable string `json:"publishable_key"` // pk_…: may stand in a page, opens sockets
}

// NewKeys returns random keys of 130 bits each.
func NewKeys() Keys {
	return Keys{Secret: "sk_" + rand.Text(), Publishable: "pk_" + rand.Text()}
}

// HashKey returns the form in which a key is stored and looked up: hex SHA-256. A key
// is random and long, so a slow hash would protect nothing more; and because the look-up is by
// hash, its time tells nothing about the key.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// SetKeys gives the tenant new keys; the former ones open nothing once it is stored.
func (t *Tenant) SetKeys(k Keys) {
	t.SecretHash, t.PublicHash, t.Publishable = HashKey(k.Secret), HashKey(k.Publishable), k.Publishable
}
