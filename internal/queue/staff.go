package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// MaxOperators is the most operators that there are.
const MaxOperators = 100

// staffKey is the one entry with all operators. Where it is missing there may be the hash
// of the first operator's password, as earlier versions kept it in another bucket.
const (
	staffKey     = "staff"
	formerFirst  = "admin"
	formerPrefix = "admin."
)

// staffTries bounds how often a change begins again after meeting another one.
const staffTries = 10

// Operator is somebody who may log in.
type Operator struct {
	Name string    `json:"name"`
	Role chat.Role `json:"role"`
	Hash string    `json:"hash"` // slow, of the password
	// Mark is random. Another one ends the logins that were opened with this one.
	Mark        string     `json:"mark"`
	CreatedAt   time.Time  `json:"created_at"`
	LastLoginAt *time.Time `json:"last_login_at,omitempty"`
}

// NewOperator returns an operator with a mark of its own, by whose password no login has
// been opened yet.
func NewOperator(name string, role chat.Role, hash string, now time.Time) Operator {
	return Operator{Name: name, Role: role, Hash: hash, Mark: rand.Text(), CreatedAt: now.UTC()}
}

// EndLogins gives an operator another mark, so that the logins end once it is stored.
func (o *Operator) EndLogins() { o.Mark = rand.Text() }

// Staff is everybody who may log in, by name. It is stored as one: whoever changes it has
// seen all of it, so that two changes at once cannot remove the last two admins.
type Staff struct {
	Operators []Operator `json:"operators"`
	rev       uint64
}

// Find returns the operator of a name.
func (s *Staff) Find(name string) (Operator, bool) {
	for _, o := range s.Operators {
		if o.Name == name {
			return o, true
		}
	}
	return Operator{}, false
}

// Put adds an operator, or replaces the one of the same name.
func (s *Staff) Put(o Operator) {
	s.Remove(o.Name)
	s.Operators = append(s.Operators, o)
	slices.SortFunc(s.Operators, func(a, b Operator) int { return strings.Compare(a.Name, b.Name) })
}

// Remove takes out the operator of a name, if there is one.
func (s *Staff) Remove(name string) {
	s.Operators = slices.DeleteFunc(s.Operators, func(o Operator) bool { return o.Name == name })
}

// Admins counts the operators with the role admin.
func (s *Staff) Admins() (n int) {
	for _, o := range s.Operators {
		if o.Role == chat.Admin {
			n++
		}
	}
	return n
}

// Staff reads all operators; there may be none.
func (q *Queue) Staff(ctx context.Context) (Staff, error) {
	entry, err := q.operators.Get(ctx, staffKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return q.formerStaff(ctx)
	}
	if err != nil {
		return Staff{}, fmt.Errorf("read the operators: %w", err)
	}
	s := Staff{rev: entry.Revision()}
	if err := json.Unmarshal(entry.Value(), &s); err != nil {
		return Staff{}, fmt.Errorf("decode the operators: %w", err)
	}
	return s, nil
}

// formerStaff is the one operator that an earlier version knew, or nobody.
func (q *Queue) formerStaff(ctx context.Context) (Staff, error) {
	entry, err := q.control.Get(ctx, formerPrefix+formerFirst)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Staff{}, nil
	}
	if err != nil {
		return Staff{}, fmt.Errorf("read the former operator: %w", err)
	}
	hash := string(entry.Value())
	return Staff{Operators: []Operator{{
		Name: formerFirst, Role: chat.Admin, Hash: hash, Mark: chat.HashKey("mark " + hash), CreatedAt: entry.Created().UTC(),
	}}}, nil
}

// ChangeStaff has the operators changed over what is stored. change may be called several
// times; its error ends the change and is returned. ErrLarge: there would be more
// than MaxOperators. ErrLost: others were faster each time.
func (q *Queue) ChangeStaff(ctx context.Context, change func(*Staff) error) error {
	for range staffTries {
		s, err := q.Staff(ctx)
		if err != nil {
			return err
		}
		before := len(s.Operators)
		if err := change(&s); err != nil {
			return err
		}
		if n := len(s.Operators); n > before && n > MaxOperators {
			return fmt.Errorf("store %d operators, at most %d: %w", n, MaxOperators, ErrLarge)
		}
		body, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encode the operators: %w", err)
		}
		err = decided(ctx, func() error {
			_, err := q.operators.Update(ctx, staffKey, body, s.rev)
			return err
		})
		if err == nil {
			q.forgetFormer(ctx, s.rev)
			return nil
		}
		if !outpaced(err) {
			return refusal("store the operators", err)
		}
	}
	return fmt.Errorf("store the operators: %w", ErrLost)
}

// forgetFormer removes what an earlier version stored, once it has been taken over. What
// stays behind means nothing.
func (q *Queue) forgetFormer(ctx context.Context, rev uint64) {
	if rev > 0 {
		return
	}
	if err := q.control.Purge(ctx, formerPrefix+formerFirst, jetstream.PurgeTTL(time.Minute)); err != nil {
		q.log.Debug().Err(err).Str("stage", "queue").Msg("the former operator's hash stays behind")
	}
}
