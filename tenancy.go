package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/bcrypt"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// Names that the embedded default creates.
const (
	demoTenant = "demo"
	firstAdmin = "admin"
)

// secrets are what a start generated, to be shown once. An empty field was there before.
type secrets struct {
	tenantKey     string
	adminPassword string
	publishable   string // of the demo tenant; always set
}

// openTenancy makes sure of the demo tenant and of the first operator.
func openTenancy(ctx context.Context, q *queue.Queue, s settings) (secrets, error) {
	var out secrets
	if err := openDemo(ctx, q, s, &out); err != nil {
		return out, fmt.Errorf("tenant %s: %w", demoTenant, err)
	}
	if err := openAdmin(ctx, q, s.AdminPassword, &out); err != nil {
		return out, fmt.Errorf("operator %s: %w", firstAdmin, err)
	}
	return out, nil
}

// openDemo creates the demo tenant, or gives it the keys that the settings name.
func openDemo(ctx context.Context, q *queue.Queue, s settings, out *secrets) error {
	t, err := q.Tenant(ctx, demoTenant)
	fresh := errors.Is(err, queue.ErrNotFound)
	if err != nil && !fresh {
		return err
	}
	before := t
	if fresh {
		keys := chat.NewKeys()
		t = chat.Tenant{
			Name: demoTenant, Lane: chat.High, Loopback: true,
			IdentitySecret: "is_" + rand.Text(), CreatedAt: time.Now().UTC(),
		}
		t.SetKeys(keys)
		out.tenantKey = keys.Secret
	}
	if key := s.DevTenantKey; key != "" {
		t.SecretHash, out.tenantKey = chat.HashKey(key), key
	}
	if key := s.DevPublishableKey; key != "" {
		t.PublicHash, t.Publishable = chat.HashKey(key), key
	}
	out.publishable = t.Publishable
	switch {
	case fresh:
		return q.AddTenant(ctx, t)
	case t.SecretHash != before.SecretHash || t.PublicHash != before.PublicHash:
		return q.SetTenant(ctx, t)
	}
	return nil
}

// openAdmin stores the password that the settings name, or generates one when there
// is no operator yet. Only a slow hash of it is kept.
func openAdmin(ctx context.Context, q *queue.Queue, password string, out *secrets) error {
	stored, err := q.Admin(ctx, firstAdmin)
	missing := errors.Is(err, queue.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	switch {
	case password == "" && !missing:
		return nil
	case password == "":
		password = rand.Text()[:16]
		out.adminPassword = password
	case bcrypt.CompareHashAndPassword([]byte(stored), []byte(password)) == nil:
		return nil
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return fmt.Errorf("hash password: %w", err)
	}
	return q.SetAdmin(ctx, firstAdmin, string(hash))
}
