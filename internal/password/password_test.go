package password

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/bcrypt"
)

func TestAPasswordFitsItsOwnHashAlone(t *testing.T) {
	t.Parallel()
	h := New()
	const right = "correct horse 马"
	hash, err := h.Hash(t.Context(), right)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("%q, %v", hash, err)
	}
	if again, err := h.Hash(t.Context(), right); err != nil || again == hash {
		t.Errorf("the same password has the same hash twice: %q, %v", again, err)
	}
	for given, want := range map[string]bool{right: true, right + " ": false, "": false} {
		if fits, stale, err := h.Verify(t.Context(), given, hash); fits != want || stale || err != nil {
			t.Errorf("%q: %v, stale %v, %v; want %v", given, fits, stale, err, want)
		}
	}
}

func TestHashesOfEarlierVersionsFitAndAreStale(t *testing.T) {
	t.Parallel()
	old, err := bcrypt.GenerateFromPassword([]byte("correct horse"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	cheap, err := argon2id.CreateHash("correct horse", &argon2id.Params{Memory: 64, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
	if err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{string(old), cheap} {
		if fits, stale, err := New().Verify(t.Context(), "correct horse", hash); !fits || !stale || err != nil {
			t.Errorf("%s: %v, stale %v, %v", hash, fits, stale, err)
		}
		if fits, stale, err := New().Verify(t.Context(), "another horse", hash); fits || stale || err != nil {
			t.Errorf("%s and another password: %v, stale %v, %v", hash, fits, stale, err)
		}
	}
	if _, _, err := New().Verify(t.Context(), "x", "no hash"); err == nil {
		t.Error("what is no hash was compared")
	}
}

// TestNobodysHashCostsAsMuch: the time of a refusal does not tell who exists.
func TestNobodysHashCostsAsMuch(t *testing.T) {
	t.Parallel()
	cost, salt, key, err := argon2id.DecodeHash(Nobody)
	if err != nil || cost.Memory != memory || cost.Iterations != passes || cost.Parallelism != width || len(salt) != 16 || len(key) != 32 {
		t.Errorf("%+v, salt of %d, key of %d, %v", cost, len(salt), len(key), err)
	}
}

func TestTwoWorkSixteenWaitAndTheNextIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New()
		ctx, cancel := context.WithCancel(t.Context())
		end, ended := make(chan struct{}), make(chan error)
		var working atomic.Int32
		for range slots + waiters {
			go func() {
				ended <- h.turn(ctx, func() error { working.Add(1); <-end; return nil })
			}()
		}
		synctest.Wait()
		if n := working.Load(); n != slots {
			t.Errorf("%d work at once", n)
		}
		if err := h.turn(t.Context(), func() error { return nil }); !errors.Is(err, ErrBusy) {
			t.Errorf("one more: %v", err)
		}
		cancel() // those who wait have gone
		for range waiters {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("one who waited: %v", err)
			}
		}
		close(end)
		for range slots {
			if err := <-ended; err != nil {
				t.Errorf("one who worked: %v", err)
			}
		}
		if err := h.turn(t.Context(), func() error { return nil }); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestAPasswordHasTwelveToAThousandCharacters(t *testing.T) {
	t.Parallel()
	for given, right := range map[string]bool{
		"": false, "elevenchars": false, "twelve chars": true, strings.Repeat("马", 12): true,
		strings.Repeat("x", 1024): true, strings.Repeat("x", 1025): false, Generate(): true,
	} {
		if fault := Check(given); (fault == "") != right {
			t.Errorf("%d bytes: %q", len(given), fault)
		}
	}
}
