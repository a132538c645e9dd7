package cache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEqualMissesAreOneLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, key := newCache(t, nil), keyOf(t, "q")
		var loads atomic.Int32
		var callers sync.WaitGroup
		for range 500 {
			callers.Go(func() {
				got, err := c.Get(t.Context(), key, func(context.Context) (string, error) {
					loads.Add(1)
					time.Sleep(time.Second)
					return "v", nil
				})
				if got != "v" || err != nil {
					t.Errorf("%q, %v", got, err)
				}
			})
		}
		callers.Wait()
		if loads.Load() != 1 || c.Counts() != (Counts{Miss: 500}) {
			t.Errorf("%d loads, %+v", loads.Load(), c.Counts())
		}
	})
}

func TestOneWhoLeavesEndsNobodyElsesLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, key := newCache(t, nil), &source{takes: time.Second}, keyOf(t, "q")
		gone := errors.New("the customer left")
		ctx, leave := context.WithCancelCause(t.Context())
		var callers sync.WaitGroup
		callers.Go(func() { // began the load
			if _, err := c.Get(ctx, key, s.load); !errors.Is(err, gone) {
				t.Errorf("%v", err)
			}
		})
		synctest.Wait()
		callers.Go(func() {
			if got, err := c.Get(t.Context(), key, s.load); got != "1" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
		synctest.Wait()
		leave(gone)
		callers.Wait()
		s.wants(t, c, key, "1", 1)
	})
}

func TestALoadHasALimitAndAPanicIsAnErrorForAll(t *testing.T) {
	for name, load := range map[string]func(context.Context) (string, error){
		"hangs":  func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		"panics": func(context.Context) (string, error) { time.Sleep(time.Second); panic("the customer's text") },
	} {
		synctest.Test(t, func(t *testing.T) {
			c, key := newCache(t, nil), keyOf(t, "q")
			began := time.Now()
			var callers sync.WaitGroup
			for range 3 {
				callers.Go(func() {
					_, err := c.Get(t.Context(), key, load)
					if name == "hangs" && !errors.Is(err, context.DeadlineExceeded) || err == nil {
						t.Errorf("%s: %v", name, err)
					}
					if name == "panics" && err.Error() != "load for cache test: it panicked" {
						t.Errorf("%v", err)
					}
				})
			}
			callers.Wait()
			if took := time.Since(began); name == "hangs" && took != 30*time.Second {
				t.Errorf("took %s", took)
			}
			s := &source{}
			s.wants(t, c, key, "1", 1) // the next one is not harmed
		})
	}
}

func TestRefreshesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, func(cfg *Config[string]) { cfg.Refreshes = 2 })
		var running, most atomic.Int32
		load := func(context.Context) (string, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(time.Second)
			return "new", nil
		}
		questions := []string{"a", "b", "c", "d", "e"}
		for _, q := range questions {
			c.Put(keyOf(t, q), "old")
		}
		time.Sleep(time.Minute)
		for rest := len(questions); rest > 0; rest -= 2 {
			for _, q := range questions {
				if _, err := c.Get(t.Context(), keyOf(t, q), load); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * time.Second)
		}
		if most.Load() != 2 {
			t.Errorf("%d refreshes at once", most.Load())
		}
		for _, q := range questions {
			if got, _ := c.Get(t.Context(), keyOf(t, q), load); got != "new" {
				t.Errorf("%s is %q", q, got)
			}
		}
	})
}

func TestCloseEndsEveryLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, nil)
		failed := make(chan error, 1)
		go func() {
			_, err := c.Get(t.Context(), keyOf(t, "q"), func(ctx context.Context) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			})
			failed <- err
		}()
		synctest.Wait()
		c.Close()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if _, err := c.Get(t.Context(), keyOf(t, "q"), (&source{}).load); !errors.Is(err, ErrClosed) {
			t.Errorf("after the close: %v", err)
		}
	})
}
