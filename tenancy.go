package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
	"sluice/internal/password"
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

// openAdmin makes sure that the password that the settings name opens the operator admin,
// whatever was changed since; without one, it generates one where there is no admin at
// all. Only a slow hash of it is kept.
func openAdmin(ctx context.Context, q *queue.Queue, given string, out *secrets) error {
	passwords, generated := password.New(), ""
	err := q.ChangeStaff(ctx, func(s *queue.Staff) error {
		o, found := s.Find(firstAdmin)
		chosen := given
		switch {
		case given == "" && s.Admins() > 0:
			return errAsItWas
		case given == "":
			generated = password.Generate()
			chosen = generated
		case found && o.Role == chat.Admin:
			fits, stale, err := passwords.Verify(ctx, given, o.Hash)
			if err != nil {
				return err
			}
			if fits && !stale {
				return errAsItWas
			}
			if fits {
				o.Hash, err = passwords.Hash(ctx, given)
				s.Put(o)
				return err
			}
		}
		hash, err := passwords.Hash(ctx, chosen)
		if err != nil {
			return err
		}
		fresh := queue.NewOperator(firstAdmin, chat.Admin, hash, time.Now())
		if found {
			fresh.CreatedAt, fresh.LastLoginAt = o.CreatedAt, o.LastLoginAt
		}
		s.Put(fresh)
		return nil
	})
	if errors.Is(err, errAsItWas) {
		return nil
	}
	out.adminPassword = generated
	return err
}

// errAsItWas ends a change that turned out to be none.
var errAsItWas = errors.New("nothing is to be changed")
