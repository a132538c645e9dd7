package sim

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAStreamComesAtItsPace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slow        float64
		first, last time.Duration
	}{
		"as set":      {0, 200 * time.Millisecond, time.Second},
		"three times": {3, 600 * time.Millisecond, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				behaviour := steady
				behaviour.Slow = c.slow
				b := inBubble(t, Config{Behaviour: behaviour})
				defer b.stop()
				start := time.Now()
				res, err := b.post(t.Context(), streamQuestion("Where is my parcel?"))
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
					t.Errorf("content type %q", got)
				}
				lines := bufio.NewReader(res.Body)
				var times []time.Duration
				for {
					line, err := lines.ReadString('\n')
					if err != nil {
						break
					}
					if line != "\n" {
						times = append(times, time.Since(start))
					}
				}
				if times[0] != c.first || times[len(times)-1] != c.last {
					t.Errorf("from %s to %s", times[0], times[len(times)-1])
				}
				instants := map[time.Duration]bool{}
				for _, at := range times {
					instants[at] = true
				}
				if len(instants) < 5 {
					t.Errorf("only %d chunks: a reader would not see it stream", len(instants))
				}
			})
		})
	}
}

func TestGapRulesThePaceWhenSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		behaviour := steady
		behaviour.Gap = Fixed(10 * time.Second)
		b := inBubble(t, Config{Behaviour: behaviour})
		defer b.stop()
		start := time.Now()
		_, body := b.ask(t, streamQuestion("Where is my parcel?"))
		chunks := 0
		for _, e := range events(t, body) {
			if strings.Contains(e, `"delta":{"content":"`) {
				chunks++
			}
		}
		if want := 200*time.Millisecond + time.Duration(chunks-1)*10*time.Second; time.Since(start) != want {
			t.Errorf("%d chunks took %s, want %s", chunks, time.Since(start), want)
		}
	})
}

func TestAStreamSpeaksTheProtocol(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Config{Behaviour: steady})
		defer b.stop()
		_, body := b.ask(t, streamQuestion("我的快递到哪了？"))
		all := events(t, body)
		if !strings.Contains(all[0], `"delta":{"role":"assistant","content":""},"finish_reason":null`) ||
			!strings.Contains(all[0], `"usage":null`) {
			t.Errorf("first event %s", all[0])
		}
		n := len(all)
		if all[n-1] != "[DONE]" || !strings.Contains(all[n-2], `"choices":[],"usage":{"prompt_tokens":`) ||
			!strings.Contains(all[n-3], `"delta":{},"finish_reason":"stop"`) {
			t.Errorf("last events %s", strings.Join(all[n-3:], "\n"))
		}
		streamed := parse(t, body)
		_, plain := b.ask(t, plainQuestion("我的快递到哪了？"))
		var whole completion
		if err := json.Unmarshal([]byte(plain), &whole); err != nil {
			t.Fatal(err)
		}
		if *whole.Choices[0].Message.Content != streamed.content || whole.Usage != *streamed.usage {
			t.Errorf("streamed %+v, plain %s", streamed, plain)
		}
		u := whole.Usage
		if u.PromptTokens <= 0 || u.CompletionTokens <= 0 || u.TotalTokens != u.PromptTokens+u.CompletionTokens {
			t.Errorf("usage %+v", u)
		}
		_, bare := b.ask(t, chatBody(map[string]any{"stream": true}, "hello"))
		if strings.Contains(bare, "usage") {
			t.Errorf("usage without being asked: %s", bare)
		}
	})
}

func TestFaultsInAStream(t *testing.T) {
	t.Parallel()
	full := parse(t, stream(t, steady))
	for name, c := range map[string]struct {
		set   func(*Behaviour)
		check func(parsed) bool
		count func(Stats) int
	}{
		"truncated": {
			func(b *Behaviour) { b.TruncateShare = 1 },
			func(p parsed) bool { return !p.done && p.finish == "" && len(p.content) < len(full.content) },
			func(s Stats) int { return s.Truncated },
		},
		"error event": {
			func(b *Behaviour) { b.StreamErrorShare = 1 },
			func(p parsed) bool { return p.errors == 1 && !p.done && p.finish == "" },
			func(s Stats) int { return s.Errors },
		},
		"garbage": {
			func(b *Behaviour) { b.GarbageShare = 1 },
			func(p parsed) bool { return p.bad == 1 && p.done && p.content == full.content },
			func(s Stats) int { return s.Garbage },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				behaviour := steady
				c.set(&behaviour)
				b := inBubble(t, Config{Behaviour: behaviour})
				defer b.stop()
				status, body := b.ask(t, streamQuestion("Where is my parcel?"))
				if p := parse(t, body); status != 200 || !c.check(p) {
					t.Errorf("status %d, stream %+v", status, p)
				}
				if s := b.Stats(); c.count(s) != 1 || s.Completed != 0 || s.InFlight != 0 {
					t.Errorf("stats %+v", s)
				}
			})
		})
	}
}

func stream(t *testing.T, behaviour Behaviour) string {
	t.Helper()
	body := ""
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Config{Behaviour: behaviour})
		defer b.stop()
		_, body = b.ask(t, streamQuestion("Where is my parcel?"))
	})
	return body
}

func TestFaultsOfAPlainAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := inBubble(t, Config{Behaviour: fast})
		defer b.stop()
		set := func(change func(*Behaviour)) {
			behaviour := steady
			change(&behaviour)
			if err := b.SetBehaviour(behaviour); err != nil {
				t.Fatal(err)
			}
		}
		set(func(x *Behaviour) { x.ErrorShare, x.ErrorStatus = 1, 503 })
		start := time.Now()
		res, err := b.post(t.Context(), plainQuestion("hello"))
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != 503 || res.Header.Get("Retry-After") != "1" || time.Since(start) != 200*time.Millisecond ||
			string(raw) != `{"error":{"message":"simulated failure","type":"server_error","code":"overloaded"}}`+"\n" {
			t.Errorf("error: %d %s after %s", res.StatusCode, raw, time.Since(start))
		}
		set(func(x *Behaviour) { x.GarbageShare = 1 })
		if status, body := b.ask(t, plainQuestion("hello")); status != 200 || !strings.HasPrefix(body, "<html>") {
			t.Errorf("garbage: %d %s", status, body)
		}
		set(func(x *Behaviour) { x.TruncateShare = 1 })
		res, err = b.post(t.Context(), plainQuestion("hello"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("truncated: %v", err)
		}
		_ = res.Body.Close()
		set(func(x *Behaviour) { x.RefuseShare = 1 })
		if res, err := b.post(t.Context(), plainQuestion("hello")); err == nil {
			t.Errorf("refused connection answered %d", res.StatusCode)
			_ = res.Body.Close()
		}
		s := b.Stats()
		if s.Errors != 1 || s.Garbage != 1 || s.Truncated != 1 || s.Dropped == 0 || s.Completed != 0 || s.InFlight != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestSharesAreDrawnAsSetAndRepeatably(t *testing.T) {
	t.Parallel()
	cfg := Config{Seed: 7, Behaviour: Behaviour{ErrorShare: 0.2, HangShare: 0.1, TruncateShare: 0.3}}
	one, two := newVendor(t, cfg), newVendor(t, cfg)
	counts := map[fault]int{}
	const n = 20_000
	for range n {
		p := one.plan()
		if p != two.plan() {
			t.Fatal("equal seeds draw differently")
		}
		counts[p.fault]++
	}
	for f, share := range map[fault]float64{faultError: 0.2, faultHang: 0.1, faultTruncate: 0.3, faultNone: 0.4} {
		if got := float64(counts[f]) / n; got < share-0.015 || got > share+0.015 {
			t.Errorf("fault %d: share %.3f, want %.1f", f, got, share)
		}
	}
}
