package cache

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

func hour() time.Duration { return time.Hour }

// BenchmarkHit reads a thousand keys from all processors: from the cache, and from a map
// under a mutex, which bounds nothing and knows no times.
func BenchmarkHit(b *testing.B) {
	keys := make([]Key, 1000)
	for i := range keys {
		keys[i] = keyOf(b, fmt.Sprint(i))
	}
	load := func(context.Context) (string, error) { return "v", nil }
	b.Run("cache", func(b *testing.B) {
		c := newCache(b, func(cfg *Config[string]) { cfg.Keep = hour })
		for _, key := range keys {
			c.Put(key, "v")
		}
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			for i := 0; p.Next(); i++ {
				if v, err := c.Get(context.Background(), keys[i%len(keys)], load); v != "v" || err != nil {
					b.Error(v, err)
				}
			}
		})
	})
	b.Run("map", func(b *testing.B) {
		var mu sync.Mutex
		values := map[Key]string{}
		for _, key := range keys {
			values[key] = "v"
		}
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			for i := 0; p.Next(); i++ {
				mu.Lock()
				v := values[keys[i%len(keys)]]
				mu.Unlock()
				if v != "v" {
					b.Error(v)
				}
			}
		})
	})
}

func BenchmarkKey(b *testing.B) {
	scope := Scope{Tenant: "demo", Model: "strong", Prompt: "0123456789abcdef", Knowledge: None}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := scope.Key("en", "do you deliver to hainan"); err != nil {
			b.Fatal(err)
		}
	}
}
