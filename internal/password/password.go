// Package password keeps operators' passwords as slow hashes (argon2id) and compares them
// in bounded memory. It stores nothing.
package password

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/bcrypt"
)

// How long a password may be, in characters.
const (
	Shortest = 12
	Longest  = 1024
)

// Cost of a hash: the least that OWASP's Password Storage Cheat Sheet names for argon2id,
// 19 MiB of memory, two passes, one thread.
const (
	memory = 19 << 10 // KiB
	passes = 2
	width  = 1
)

// How many hashes are computed at once, and how many callers may wait for one.
const (
	slots   = 2
	waiters = 16
)

// ErrBusy says that too many others wait for a hash already.
var ErrBusy = errors.New("too many passwords are being compared")

// Nobody is a hash that no known password fits. To compare with it takes as long as with
// one that was stored.
const Nobody = "$argon2id$v=19$m=19456,t=2,p=1$gmsY/SqhzjAjQeceCKvm4Q$UBgNURwjc8fl+bT0zy//4hyRcg3+z1x+AaxAnfWK7YI"

// Check says what is wrong with the length of a new password, or nothing.
func Check(password string) string {
	if n := utf8.RuneCountInString(password); n < Shortest || n > Longest {
		return fmt.Sprintf("must have %d to %d characters, has %d", Shortest, Longest, n)
	}
	return ""
}

// Generate returns a random password of 100 bits.
func Generate() string { return rand.Text()[:20] }

// Hasher computes hashes, two at a time in all of its process: each takes 19 MiB while it
// is being computed. It is safe for concurrent use.
type Hasher struct {
	line  chan struct{} // whoever works or waits
	works chan struct{}
}

// New returns a hasher. A process has one: what it bounds is the memory of a process.
func New() *Hasher {
	return &Hasher{line: make(chan struct{}, slots+waiters), works: make(chan struct{}, slots)}
}

// Hash returns the hash of a password. ErrBusy: too many others wait.
func (h *Hasher) Hash(ctx context.Context, password string) (hash string, err error) {
	err = h.turn(ctx, func() (err error) {
		hash, err = argon2id.CreateHash(password, &argon2id.Params{
			Memory: memory, Iterations: passes, Parallelism: width, SaltLength: 16, KeyLength: 32,
		})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	return hash, nil
}

// Verify reports whether a password fits a hash, which may be a bcrypt hash of earlier
// versions. stale: it fits, and should be hashed anew. ErrBusy: too many others wait.
func (h *Hasher) Verify(ctx context.Context, password, hash string) (fits, stale bool, err error) {
	err = h.turn(ctx, func() error {
		if strings.HasPrefix(hash, "$2") {
			err := bcrypt.CompareHashAndPassword([]byte(hash), []byte(password))
			fits, stale = err == nil, true
			return nil
		}
		right, cost, err := argon2id.CheckHash(password, hash)
		if err != nil {
			return err
		}
		fits, stale = right, cost.Memory != memory || cost.Iterations != passes || cost.Parallelism != width
		return nil
	})
	if err != nil {
		return false, false, fmt.Errorf("compare a password: %w", err)
	}
	return fits, fits && stale, nil
}

// turn runs a computation once it is its turn.
func (h *Hasher) turn(ctx context.Context, compute func() error) error {
	select {
	case h.line <- struct{}{}:
	default:
		return ErrBusy
	}
	defer func() { <-h.line }()
	select {
	case h.works <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.works }()
	return compute()
}
