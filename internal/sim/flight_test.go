package sim

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestQuotaRefusesTheCallAboveItAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Config{Quota: 2, Behaviour: Behaviour{
			FirstToken: Fixed(200 * time.Millisecond), Call: Fixed(time.Second), RetryAfter: 1500 * time.Millisecond,
		}})
		defer b.stop()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { b.ask(t, plainQuestion("hello")) })
		}
		synctest.Wait()
		start := time.Now()
		res, err := b.post(t.Context(), plainQuestion("hello"))
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != 429 || res.Header.Get("Retry-After") != "2" || time.Since(start) != 0 {
			t.Errorf("got %d, Retry-After %q after %s", res.StatusCode, res.Header.Get("Retry-After"), time.Since(start))
		}
		if !strings.Contains(string(raw), `"code":"rate_limit_exceeded"`) {
			t.Errorf("body %s", raw)
		}
		wg.Wait()
		if status, _ := b.ask(t, plainQuestion("hello")); status != 200 {
			t.Errorf("after the others ended: %d", status)
		}
		got := b.Stats()
		want := Stats{Vendor: "a", Quota: 2, MaxInFlight: 3, Calls: 4, Completed: 3, Refused: 1,
			PromptTokens: got.PromptTokens, CompletionTokens: got.CompletionTokens}
		if got != want || got.CompletionTokens == 0 {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

func TestACancelledCallLeavesAtThatMoment(t *testing.T) {
	t.Parallel()
	for name, behaviour := range map[string]Behaviour{
		"before the first token": {FirstToken: Fixed(10 * time.Minute)},
		"within the stream":      {FirstToken: Fixed(100 * time.Millisecond), Call: Fixed(time.Hour)},
		"hanging":                {FirstToken: Fixed(0), HangShare: 1},
		"stalled":                {FirstToken: Fixed(0), Call: Fixed(time.Second), StallShare: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := inBubble(t, Config{Quota: 1, Behaviour: behaviour})
				defer b.stop()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				var wg sync.WaitGroup
				wg.Go(func() {
					res, err := b.post(ctx, streamQuestion("hello"))
					if err == nil {
						_, err = io.Copy(io.Discard, res.Body)
						_ = res.Body.Close()
					}
					if err == nil {
						t.Error("the call ended well")
					}
				})
				time.Sleep(3*time.Second - time.Nanosecond)
				synctest.Wait()
				if s := b.Stats(); s.InFlight != 1 || s.Cancelled != 0 {
					t.Errorf("just before: %+v", s)
				}
				wg.Wait()
				synctest.Wait()
				if s := b.Stats(); s.InFlight != 0 || s.Cancelled != 1 || s.Completed != 0 {
					t.Errorf("after: %+v", s)
				}
			})
		})
	}
}

// A client that calls again as soon as it has seen the end of an answer must find its
// place free, or a correct caller would look as if it broke its contract.
func TestACallerWithinItsQuotaIsNeverRefused(t *testing.T) {
	t.Parallel()
	for _, quota := range []int{1, 8} {
		v := newVendor(t, Config{Quota: quota, Behaviour: fast})
		server := httptest.NewServer(v.Handler())
		var wg sync.WaitGroup
		for range quota {
			wg.Go(func() {
				for i := range 100 {
					body := plainQuestion("where is my parcel?")
					if i%2 == 0 {
						body = streamQuestion("where is my parcel?")
					}
					res, err := server.Client().Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					readToEnd(res)
				}
			})
		}
		wg.Wait()
		if s := v.Stats(); s.Refused != 0 || s.MaxInFlight > quota || s.Completed != quota*100 || s.InFlight != 0 {
			t.Errorf("quota %d: stats %+v", quota, s)
		}
		server.Close()
	}
}

// readToEnd returns as soon as the answer is complete, which for a stream is before the
// connection says so.
func readToEnd(res *http.Response) {
	defer res.Body.Close()
	var got []byte
	part := make([]byte, 4096)
	for {
		n, err := res.Body.Read(part)
		got = append(got, part[:n]...)
		if err != nil || bytes.HasSuffix(got, []byte(doneEvent)) {
			return
		}
	}
}

func TestEveryCallEndsInExactlyOneWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &meter{}
		quota := rapid.IntRange(0, 3).Draw(t, "quota")
		var open []*passage
		admitted, top := 0, 0
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0, 1:
				p := m.enter()
				top = max(top, len(open)+1)
				if p.admit(quota) != (quota == 0 || admitted < quota) {
					t.Fatal("admitted wrongly")
				}
				if !p.admitted {
					p.leave(refused, Usage{})
					continue
				}
				admitted++
				open = append(open, p)
			case 2:
				if len(open) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				open[i].leave(outcome(rapid.IntRange(0, int(outcomes)-1).Draw(t, "outcome")), Usage{})
				open[i].leave(cancelled, Usage{})
				open = append(open[:i], open[i+1:]...)
				admitted--
			}
		}
		s := m.read()
		ends := s.Completed + s.Refused + s.Cancelled + s.Errors + s.Dropped + s.Truncated + s.Garbage + s.Invalid
		if s.InFlight != len(open) || s.MaxInFlight != top || s.Calls != ends+s.InFlight {
			t.Fatalf("stats %+v, open %d, top %d", s, len(open), top)
		}
	})
}
