package queue

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// overlap is how long a former secret of a tenant signs beside its new one.
const overlap = 24 * time.Hour

// maxFormer bounds how many former secrets sign: of more than that the oldest stop at once.
const maxFormer = 4

// HookSecrets are what a tenant's webhooks are signed with. They are kept in the clear, as
// whoever signs needs them: the store's own guard is theirs.
type HookSecrets struct {
	Current string         `json:"current"`           // whsec_…
	Former  []FormerSecret `json:"formers,omitempty"` // the newest first, at most maxFormer
}

// FormerSecret is one that was replaced, and signs until its receivers had time to learn the
// next.
type FormerSecret struct {
	Secret string    `json:"secret"`
	Until  time.Time `json:"until"`
}

// Signing returns the secrets that sign at now, the newest first.
func (s HookSecrets) Signing(now time.Time) []string {
	all := []string{s.Current}
	for _, f := range s.Former {
		if now.Before(f.Until) {
			all = append(all, f.Secret)
		}
	}
	return all
}

// HookSecrets returns what a tenant's webhooks are signed with. A tenant that has nothing yet
// gets it: nothing is sent unsigned.
func (q *Queue) HookSecrets(ctx context.Context, tenant string) (HookSecrets, error) {
	return q.changeSecrets(ctx, tenant, func(s *HookSecrets) bool {
		if s.Current != "" {
			return false
		}
		s.Current = newHookSecret()
		return true
	})
}

// RotateHookSecret gives a tenant a new secret at now. The former one signs beside it for a
// day, and so does each before it whose day is not over.
func (q *Queue) RotateHookSecret(ctx context.Context, tenant string, now time.Time) (HookSecrets, error) {
	return q.changeSecrets(ctx, tenant, func(s *HookSecrets) bool {
		if s.Current != "" {
			s.Former = slices.Insert(s.Former, 0, FormerSecret{Secret: s.Current, Until: now.Add(overlap)})
			s.Former = slices.DeleteFunc(s.Former[:min(len(s.Former), maxFormer)], func(f FormerSecret) bool { return !now.Before(f.Until) })
		}
		s.Current = newHookSecret()
		return true
	})
}

func (q *Queue) changeSecrets(ctx context.Context, tenant string, change func(*HookSecrets) bool) (s HookSecrets, err error) {
	key := "hook." + tenant
	for range appendTries {
		var rev uint64
		s = HookSecrets{}
		entry, err := q.tenants.Get(ctx, key)
		switch {
		case err == nil:
			rev = entry.Revision()
			if err := json.Unmarshal(entry.Value(), &s); err != nil {
				return s, fmt.Errorf("decode the webhook secrets of %s: %w", tenant, err)
			}
		case !errors.Is(err, jetstream.ErrKeyNotFound):
			return s, fmt.Errorf("read the webhook secrets of %s: %w", tenant, err)
		}
		if !change(&s) {
			return s, nil
		}
		body, err := json.Marshal(s)
		if err != nil {
			return s, fmt.Errorf("encode the webhook secrets of %s: %w", tenant, err)
		}
		err = decided(ctx, func() (err error) {
			if rev == 0 {
				_, err = q.tenants.Create(ctx, key, body)
			} else {
				_, err = q.tenants.Update(ctx, key, body, rev)
			}
			return err
		})
		if err == nil {
			return s, nil
		}
		if !outpaced(err) {
			return s, refusal("write the webhook secrets of "+tenant, err)
		}
	}
	return s, fmt.Errorf("write the webhook secrets of %s: met another writer %d times", tenant, appendTries)
}

// newHookSecret returns 32 random bytes in the form of Standard Webhooks.
func newHookSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

func hookOffKey(tenant, url string) string {
	sum := sha256.Sum256([]byte(url))
	return "off." + tenant + "." + hex.EncodeToString(sum[:16])
}

// HookOff reports whether nothing is sent to an endpoint of a tenant.
func (q *Queue) HookOff(ctx context.Context, tenant, url string) (bool, error) {
	_, err := q.hooks.Get(ctx, hookOffKey(tenant, url))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask whether an endpoint of %s is off: %w", tenant, err)
	}
	return true, nil
}

// TurnHookOff lets nothing be sent to an endpoint of a tenant any more, until TurnHookOn.
func (q *Queue) TurnHookOff(ctx context.Context, off chat.HookOff) error {
	body, err := json.Marshal(off)
	if err != nil {
		return fmt.Errorf("encode an endpoint of %s: %w", off.Tenant, err)
	}
	_, err = q.hooks.Put(ctx, hookOffKey(off.Tenant, off.URL), body)
	return refusal("turn an endpoint of "+off.Tenant+" off", err)
}

// TurnHookOn undoes TurnHookOff. ErrNotFound: the endpoint is not off.
func (q *Queue) TurnHookOn(ctx context.Context, tenant, url string) error {
	off, err := q.HookOff(ctx, tenant, url)
	if err != nil {
		return err
	}
	if !off {
		return fmt.Errorf("endpoint of %s: %w", tenant, ErrNotFound)
	}
	if err := q.hooks.Purge(ctx, hookOffKey(tenant, url), jetstream.PurgeTTL(time.Minute)); err != nil {
		return fmt.Errorf("turn an endpoint of %s on: %w", tenant, err)
	}
	return nil
}

// HooksOff returns the endpoints that are off.
func (q *Queue) HooksOff(ctx context.Context) ([]chat.HookOff, error) {
	watch, err := q.hooks.Watch(ctx, "off.>", jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("list the endpoints that are off: %w", err)
	}
	defer func() { _ = watch.Stop() }()
	all := []chat.HookOff{}
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("list the endpoints that are off: %w", ctx.Err())
		case entry, open := <-watch.Updates():
			if !open || entry == nil {
				return all, nil
			}
			var off chat.HookOff
			if err := json.Unmarshal(entry.Value(), &off); err != nil {
				return nil, fmt.Errorf("decode an endpoint that is off: %w", err)
			}
			all = append(all, off)
		}
	}
}
