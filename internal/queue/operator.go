package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Login is an operator's session. It is stored under the hash of the secret that the
// browser has, and ends by itself.
type Login struct {
	User string    `json:"user"`
	Mark string    `json:"mark"` // of its operator when it was opened: another one ends it
	At   time.Time `json:"at"`
}

// AddLogin stores a login under the hash of its secret, for ttl, a whole number of seconds.
func (q *Queue) AddLogin(ctx context.Context, hash string, l Login, ttl time.Duration) error {
	body, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode login: %w", err)
	}
	_, err = q.operators.Create(ctx, "login."+hash, body, jetstream.KeyTTL(ttl))
	return refusal("store a login", err)
}

// Login reads a login, or returns ErrNotFound.
func (q *Queue) Login(ctx context.Context, hash string) (l Login, err error) {
	err = q.office(ctx, "login."+hash, &l)
	return l, err
}

// RemoveLogin ends a login; it is no error if there is none.
func (q *Queue) RemoveLogin(ctx context.Context, hash string) error {
	if err := q.operators.Purge(ctx, "login."+hash, jetstream.PurgeTTL(time.Minute)); err != nil {
		return fmt.Errorf("remove a login: %w", err)
	}
	return nil
}

// OpsToken lets a program do what its role may do, until it is removed. Only the hash of
// its secret is stored.
type OpsToken struct {
	Name   string    `json:"name"`
	Role   chat.Role `json:"role"` // of one that an earlier version stored: admin
	Hash   string    `json:"hash"`
	Actor  string    `json:"actor"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// AddOpsToken stores a new token. ErrExists: the name is taken.
func (q *Queue) AddOpsToken(ctx context.Context, t OpsToken) error {
	body, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode ops token %s: %w", t.Name, err)
	}
	_, err = q.operators.Create(ctx, "token."+t.Name, body)
	if outpaced(err) {
		return fmt.Errorf("ops token %s: %w", t.Name, ErrExists)
	}
	return refusal("store ops token "+t.Name, err)
}

// OpsToken reads a token by its name, or returns ErrNotFound.
func (q *Queue) OpsToken(ctx context.Context, name string) (t OpsToken, err error) {
	err = q.office(ctx, "token."+name, &t)
	t.Role = orDefault(t.Role, chat.Admin)
	return t, err
}

// OpsTokens lists all tokens by name.
func (q *Queue) OpsTokens(ctx context.Context) ([]OpsToken, error) {
	keys, err := q.operators.ListKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list ops tokens: %w", err)
	}
	all := []OpsToken{}
	for key := range keys.Keys() {
		name, found := strings.CutPrefix(key, "token.")
		if !found {
			continue
		}
		t, err := q.OpsToken(ctx, name)
		if errors.Is(err, ErrNotFound) {
			continue // removed since
		}
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b OpsToken) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// RemoveOpsToken ends a token; from then on it opens nothing.
func (q *Queue) RemoveOpsToken(ctx context.Context, name string) error {
	if err := q.operators.Purge(ctx, "token."+name, jetstream.PurgeTTL(time.Minute)); err != nil {
		return fmt.Errorf("remove ops token %s: %w", name, err)
	}
	return nil
}

// office reads a key of the operators' bucket.
func (q *Queue) office(ctx context.Context, key string, out any) error {
	kind, _, _ := strings.Cut(key, ".")
	entry, err := q.operators.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("%s: %w", kind, ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("read a %s: %w", kind, err)
	}
	if err := json.Unmarshal(entry.Value(), out); err != nil {
		return fmt.Errorf("decode a %s: %w", kind, err)
	}
	return nil
}
