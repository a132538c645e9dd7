package queue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

func contextAfter(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

func newTenant(name string) (chat.Tenant, chat.Keys) {
	t := chat.Tenant{Name: name, Lane: chat.Normal, Origins: []string{"https://shop.example"}}
	keys := chat.NewKeys()
	t.SetKeys(keys)
	return t, keys
}

// opens returns which tenant a key opens as a secret and as a publishable one.
func (w *world) opens(key string) (secret, publishable string) {
	w.t.Helper()
	s, err := w.TenantBySecret(w.t.Context(), key)
	if err != nil && !errors.Is(err, ErrNotFound) {
		w.t.Error(err)
	}
	p, err := w.TenantByPublishable(w.t.Context(), key)
	if err != nil && !errors.Is(err, ErrNotFound) {
		w.t.Error(err)
	}
	return s.Name, p.Name
}

func (w *world) wantOpens(key, secret, publishable string) {
	w.t.Helper()
	if s, p := w.opens(key); s != secret || p != publishable {
		w.t.Errorf("key opens %q as secret and %q as publishable, want %q and %q", s, p, secret, publishable)
	}
}

func TestAKeyOpensItsTenantAsWhatItIs(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		a, keys := newTenant("a")
		if err := w.AddTenant(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		w.wantOpens(keys.Secret, "a", "")
		w.wantOpens(keys.Publishable, "", "a")
		w.wantOpens(a.SecretHash, "", "") // the hash is no key
		w.wantOpens("", "", "")
		w.wantOpens("sk_guess", "", "")
	})
}

func TestOldKeysOpenNothingAfterNewOnes(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		a, old := newTenant("a")
		b, others := newTenant("b")
		for _, tenant := range []chat.Tenant{a, b} {
			if err := w.AddTenant(t.Context(), tenant); err != nil {
				t.Fatal(err)
			}
		}
		fresh := chat.NewKeys()
		a.SetKeys(fresh)
		if err := w.SetTenant(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		w.wantOpens(old.Secret, "", "")
		w.wantOpens(old.Publishable, "", "")
		w.wantOpens(fresh.Secret, "a", "")
		w.wantOpens(fresh.Publishable, "", "a")
		w.wantOpens(others.Secret, "b", "")
		a.SetKeys(old) // and back
		if err := w.SetTenant(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		w.wantOpens(old.Secret, "a", "")
		w.wantOpens(fresh.Secret, "", "")
	})
}

func TestATakenNameKeepsItsTenantAndOpensNothingNew(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		a, keys := newTenant("a")
		if err := w.AddTenant(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		again, guess := newTenant("a")
		if err := w.AddTenant(t.Context(), again); !errors.Is(err, ErrExists) {
			t.Errorf("err = %v, want ErrExists", err)
		}
		w.wantOpens(keys.Secret, "a", "")
		w.wantOpens(guess.Secret, "", "")
		if _, err := w.Tenant(t.Context(), "nobody"); !errors.Is(err, ErrNotFound) {
			t.Errorf("err = %v, want ErrNotFound", err)
		}
	})
}

func TestTenantsAreListedByName(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if all, err := w.Tenants(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("none = %v, %v", all, err)
		}
		for _, name := range []string{"shop-b", "a", "c1"} {
			tenant, _ := newTenant(name)
			if err := w.AddTenant(t.Context(), tenant); err != nil {
				t.Fatal(err)
			}
		}
		all, err := w.Tenants(t.Context())
		if err != nil || len(all) != 3 || all[0].Name != "a" || all[1].Name != "c1" || all[2].Name != "shop-b" || all[0].Origins[0] != "https://shop.example" {
			t.Errorf("tenants = %+v, %v", all, err)
		}
	})
}

func TestOfManyWhoStoreRulesOneWins(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		rules, err := OpenRules(t.Context(), w.nc, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := rules.Load(t.Context()); !errors.Is(err, ErrNotFound) {
			t.Errorf("no rules: %v, want ErrNotFound", err)
		}
		rev := uint64(0)
		for range 3 {
			var all sync.WaitGroup
			won := make(chan uint64, 10)
			for n := range 10 {
				all.Go(func() {
					next, err := rules.Store(t.Context(), []byte{byte('a' + n)}, rev)
					if err == nil {
						won <- next
					} else if !errors.Is(err, ErrLost) {
						t.Errorf("store: %v, want ErrLost", err)
					}
				})
			}
			all.Wait()
			if len(won) != 1 {
				t.Fatalf("%d of 10 stored over revision %d, want one", len(won), rev)
			}
			next := <-won
			doc, loaded, err := rules.Load(t.Context())
			if err != nil || loaded != next || next <= rev || len(doc) != 1 {
				t.Errorf("loaded %q at %d, %v; want revision %d", doc, loaded, err, next)
			}
			rev = next
		}
		if _, err := rules.Store(t.Context(), []byte("stale"), 1000); !errors.Is(err, ErrLost) {
			t.Errorf("a revision that never was: %v, want ErrLost", err)
		}
	})
}
