package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// ErrExists says that a tenant of that name is there already.
var ErrExists = errors.New("exists already")

// AddTenant stores a new tenant and the index of its keys. ErrExists: the name is taken.
func (q *Queue) AddTenant(ctx context.Context, t chat.Tenant) error {
	body, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode tenant %s: %w", t.Name, err)
	}
	// The index first: a key that leads to a missing tenant opens nothing.
	if err := q.indexKeys(ctx, t); err != nil {
		return err
	}
	_, err = q.tenants.Create(ctx, "name."+t.Name, body)
	if outpaced(err) {
		return fmt.Errorf("tenant %s: %w", t.Name, ErrExists)
	}
	if err != nil {
		return refusal("create tenant "+t.Name, err)
	}
	return nil
}

// SetTenant replaces a tenant, for new keys among others: the old ones open nothing
// from then on, because the tenant no longer names their hash.
func (q *Queue) SetTenant(ctx context.Context, t chat.Tenant) error {
	body, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode tenant %s: %w", t.Name, err)
	}
	if err := q.indexKeys(ctx, t); err != nil {
		return err
	}
	if _, err := q.tenants.Put(ctx, "name."+t.Name, body); err != nil {
		return refusal("write tenant "+t.Name, err)
	}
	return nil
}

// Tenant reads a tenant by name, or ErrNotFound.
func (q *Queue) Tenant(ctx context.Context, name string) (chat.Tenant, error) {
	entry, err := q.tenants.Get(ctx, "name."+name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return chat.Tenant{}, fmt.Errorf("tenant %s: %w", name, ErrNotFound)
	}
	if err != nil {
		return chat.Tenant{}, fmt.Errorf("read tenant %s: %w", name, err)
	}
	var t chat.Tenant
	if err := json.Unmarshal(entry.Value(), &t); err != nil {
		return chat.Tenant{}, fmt.Errorf("decode tenant %s: %w", name, err)
	}
	return t, nil
}

// TenantBySecret returns the tenant that a secret key belongs to, or ErrNotFound.
func (q *Queue) TenantBySecret(ctx context.Context, key string) (chat.Tenant, error) {
	return q.tenantByKey(ctx, key, func(t chat.Tenant) string { return t.SecretHash })
}

// TenantByPublishable returns the tenant that a publishable key belongs to, or ErrNotFound.
func (q *Queue) TenantByPublishable(ctx context.Context, key string) (chat.Tenant, error) {
	return q.tenantByKey(ctx, key, func(t chat.Tenant) string { return t.PublicHash })
}

func (q *Queue) tenantByKey(ctx context.Context, key string, hashOf func(chat.Tenant) string) (chat.Tenant, error) {
	hash := chat.HashKey(key)
	entry, err := q.tenants.Get(ctx, "key."+hash)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return chat.Tenant{}, fmt.Errorf("key: %w", ErrNotFound)
	}
	if err != nil {
		return chat.Tenant{}, fmt.Errorf("look up key: %w", err)
	}
	t, err := q.Tenant(ctx, string(entry.Value()))
	if err != nil {
		return chat.Tenant{}, err
	}
	if hashOf(t) != hash {
		return chat.Tenant{}, fmt.Errorf("key: %w", ErrNotFound)
	}
	return t, nil
}

// Tenants lists all tenants by name.
func (q *Queue) Tenants(ctx context.Context) ([]chat.Tenant, error) {
	keys, err := q.tenants.ListKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	var all []chat.Tenant
	for key := range keys.Keys() {
		name, found := strings.CutPrefix(key, "name.")
		if !found {
			continue
		}
		t, err := q.Tenant(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, nil
}

func (q *Queue) indexKeys(ctx context.Context, t chat.Tenant) error {
	for _, hash := range []string{t.SecretHash, t.PublicHash} {
		if _, err := q.tenants.PutString(ctx, "key."+hash, t.Name); err != nil {
			return refusal("index a key of tenant "+t.Name, err)
		}
	}
	return nil
}
