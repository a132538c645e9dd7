package cache

import (
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newCache returns a cache of texts that are fresh for a minute, where a test does not
// change that.
func newCache(t testing.TB, change func(*Config[string])) *Cache[string] {
	t.Helper()
	cfg := Config[string]{
		Name: "test", Bound: 1000, Keep: func() time.Duration { return time.Minute },
		Empty: func(s string) bool { return s == "" }, Log: zerolog.Nop(),
	}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func keyOf(t testing.TB, asked string) Key {
	t.Helper()
	key, err := Scope{Tenant: "demo", Model: "m", Prompt: "p", Knowledge: None}.Key(asked)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
