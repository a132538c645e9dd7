package llm

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// narrow returns a bubbled client of a vendor with one connection. Each call is answered after its turn's time: the
// first token and the whole answer come then.
func narrow(t *testing.T, calls *atomic.Int64, turns ...time.Duration) *Client {
	return bubbledWith(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(turns[calls.Add(1)-1])
		flushed(w, text("a"))
		flushed(w, finish("stop"))
		flushed(w, "[DONE]")
	}), func(cfg *Config) { cfg.MaxConns = 1 })
}

func TestWaitForAFreeConnectionIsASignalOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		c := narrow(t, &calls, 5*time.Second, 0)
		var first sync.WaitGroup
		first.Go(func() {
			if _, err := ask(t.Context(), c, new(heard)); err != nil {
				t.Errorf("the call that has the connection: %v", err)
			}
		})
		synctest.Wait()
		start := time.Now()
		ctx, timing := WithTiming(t.Context())
		_, err := ask(ctx, c, new(heard))
		e := wantKind(t, err, PoolExhausted)
		if e.Phase != "" || time.Since(start) != 2*time.Second || calls.Load() != 1 {
			t.Errorf("error %v after %s, the vendor saw %d calls", e, time.Since(start), calls.Load())
		}
		if e.Outcome() != Ignored || timing.FirstToken() != 0 {
			t.Errorf("the vendor is blamed: outcome %s, first token after %s", e.Outcome(), timing.FirstToken())
		}
		first.Wait()
		if _, err := ask(t.Context(), c, new(heard)); err != nil {
			t.Errorf("with the connection free again: %v", err)
		}
	})
}

func TestWaitForAFreeConnectionIsNotTheVendorsTime(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]bool{"streamed": false, "whole": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				c := narrow(t, &calls, 1500*time.Millisecond, 9500*time.Millisecond)
				var first sync.WaitGroup
				first.Go(func() { _, _ = ask(t.Context(), c, new(heard)) })
				synctest.Wait()
				start := time.Now()
				ctx, timing := WithTiming(t.Context())
				options := []llms.CallOption{new(heard).option()}
				want := 9500 * time.Millisecond
				if whole {
					options, want = nil, 0
				}
				_, err := c.GenerateContent(ctx, prompt("hello"), options...)
				if whole {
					wantKind(t, err, Malformed) // the vendor streams whatever it is asked for
				} else if err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took != 11*time.Second || timing.FirstToken() != want {
					t.Errorf("took %s, first token after %s, want 11s and %s", took, timing.FirstToken(), want)
				}
				first.Wait()
			})
		})
	}
}

func TestCancelWhileWaitingForAConnectionReturnsTheCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		c := narrow(t, &calls, 5*time.Second)
		var first sync.WaitGroup
		first.Go(func() { _, _ = ask(t.Context(), c, new(heard)) })
		synctest.Wait()
		stop := errors.New("customer left")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, stop)
		defer cancel()
		start := time.Now()
		if _, err := ask(ctx, c, new(heard)); err != stop || time.Since(start) != time.Second {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
		first.Wait()
		if calls.Load() != 1 {
			t.Errorf("the vendor saw %d calls", calls.Load())
		}
	})
}

// A dial that hangs is the vendor's failure even where the pool has a bound, and whoever waits behind it in the pool is
// not: it was never asked for.
func TestHangingDialIsTheVendorsAndTheWaitBehindItIsOurs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{Vendor: "a", BaseURL: "http://vendor.test/v1", Model: "m", MaxConns: 1,
			Timeouts: Timeouts{Acquire: time.Second},
			Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}})
		if err != nil {
			t.Fatal(err)
		}
		var first sync.WaitGroup
		first.Go(func() {
			_, err := ask(t.Context(), c, new(heard))
			if e := wantKind(t, err, Timeout); e.Phase != PhaseConnect || e.Outcome() != Failed {
				t.Errorf("error = %v", e)
			}
		})
		synctest.Wait()
		_, err = ask(t.Context(), c, new(heard))
		wantKind(t, err, PoolExhausted)
		first.Wait()
	})
}

func TestPoolOfConnectionsKeepsItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int64
		c := bubbledWith(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n := open.Add(1)
			defer open.Add(-1)
			most.Store(max(most.Load(), n))
			time.Sleep(100 * time.Millisecond)
			flushed(w, text("a"))
			flushed(w, finish("stop"))
			flushed(w, "[DONE]")
		}), func(cfg *Config) { cfg.MaxConns = 4 })
		var calls sync.WaitGroup
		start := time.Now()
		for range 40 {
			calls.Go(func() {
				if _, err := ask(t.Context(), c, new(heard)); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if most.Load() != 4 || time.Since(start) != time.Second {
			t.Errorf("40 calls over 4 connections took %s, %d at once", time.Since(start), most.Load())
		}
	})
}
