package llm

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestCallLastsToTheEOFOfTheBodyNotToDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int64
		c := bubbled(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			running.Add(1)
			defer running.Add(-1)
			flushed(w, text("a"))
			flushed(w, finish("stop"))
			flushed(w, "[DONE]")
			time.Sleep(300 * time.Millisecond)
		}))
		for range 3 {
			start := time.Now()
			resp, err := ask(t.Context(), c, new(heard))
			if err != nil || !Drained(resp) {
				t.Fatalf("error %v, drained %t", err, Drained(resp))
			}
			if took := time.Since(start); took != 300*time.Millisecond || running.Load() != 0 {
				t.Errorf("returned after %s with %d calls running", took, running.Load())
			}
		}
	})
}

func TestFinishedStreamThatStaysOpenIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tail  []string
		after time.Duration
	}{
		"after [DONE]":   {[]string{finish("stop"), "[DONE]"}, drainTimeout},
		"without [DONE]": {[]string{finish("stop")}, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var gone atomic.Bool
				c := bubbled(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					flushed(w, text("a"))
					for _, data := range tc.tail {
						flushed(w, data)
					}
					hang(r, &gone)
				}))
				start := time.Now()
				resp, err := ask(t.Context(), c, new(heard))
				if err != nil || Drained(resp) {
					t.Fatalf("error %v, drained %t", err, Drained(resp))
				}
				if took := time.Since(start); took != tc.after {
					t.Errorf("returned after %s, want %s", took, tc.after)
				}
				synctest.Wait()
				if !gone.Load() {
					t.Error("the upstream call goes on")
				}
			})
		})
	}
}

func TestRefusalWithAnEndlessBodyIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		c := bubbled(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			_ = http.NewResponseController(w).Flush()
			hang(r, &gone)
		}))
		start := time.Now()
		_, err := ask(t.Context(), c, new(heard))
		if e := wantKind(t, err, RateLimited); e.RetryAfter != 3*time.Second || time.Since(start) != drainTimeout {
			t.Errorf("retry after %s, returned after %s", e.RetryAfter, time.Since(start))
		}
		synctest.Wait()
		if !gone.Load() {
			t.Error("the upstream call goes on")
		}
	})
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	remotes := make(chan string, 64)
	whole := raw("application/json", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`)
	streamed := events(text("a"), finish("stop"), "[DONE]")
	c := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		remotes <- r.RemoteAddr
		switch r.Header.Get("Accept") {
		case "text/event-stream":
			streamed(w, r)
		default:
			whole(w, r)
		}
	}), nil)
	for range 10 {
		if _, err := ask(t.Context(), c, new(heard)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.GenerateContent(t.Context(), prompt("hello")); err != nil {
			t.Fatal(err)
		}
	}
	first := <-remotes
	for range 19 {
		if remote := <-remotes; remote != first {
			t.Fatalf("connection %s after %s", remote, first)
		}
	}
}
