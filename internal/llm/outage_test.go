package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/sim"
)

// site is a simulated vendor in the bubble that the test runs in, and a client with one connection: a call that leaves
// anything behind is in the way of the next one.
type site struct {
	t      *testing.T
	vendor *sim.Vendor
	client *Client
	door   *sim.PipeListener
	refuse atomic.Bool // connections

	open atomic.Int64 // connections

	mu   sync.Mutex
	left int    // bytes until cut is called; 0: never
	cut  func() // by the connection's reader
}

func simulated(t *testing.T, b sim.Behaviour) *site {
	t.Helper()
	v, err := sim.NewVendor(sim.Config{Name: "a", Quota: 1, Behaviour: b})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, vendor: v, door: sim.NewPipeListener()}
	s.client, err = New(Config{Vendor: "a", BaseURL: "http://a/v1", Model: "model-l", Dial: s.dial, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- sim.Serve(ctx, v, s.door, nil) }()
	t.Cleanup(func() {
		s.client.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *site) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if s.refuse.Load() {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	conn, err := s.door.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	s.open.Add(1)
	return &siteConn{Conn: conn, site: s}, nil
}

// cutAfter makes the connection call cut when it has read so many bytes more.
func (s *site) cutAfter(bytes int, cut func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.cut = bytes, cut
}

type siteConn struct {
	net.Conn
	site   *site
	closed sync.Once
}

func (c *siteConn) Read(p []byte) (int, error) {
	c.site.mu.Lock()
	if left := c.site.left; left > 0 && left < len(p) {
		p = p[:left]
	}
	c.site.mu.Unlock()
	n, err := c.Conn.Read(p)
	c.site.mu.Lock()
	defer c.site.mu.Unlock()
	if c.site.left > 0 {
		if c.site.left -= n; c.site.left <= 0 {
			c.site.cut()
		}
	}
	return n, err
}

func (c *siteConn) Close() error {
	c.closed.Do(func() { c.site.open.Add(-1) })
	return c.Conn.Close()
}

// ask makes a call, streamed or not.
func (s *site) ask(ctx context.Context, streamed bool) error {
	var options []llms.CallOption
	if streamed {
		options = append(options, new(heard).option())
	}
	_, err := s.client.GenerateContent(ctx, prompt("Where is my order 1234?"), options...)
	return err
}

// atRest fails unless the vendor has seen the end of every call by this instant. A connection may be kept, idle.
func (s *site) atRest(when string) {
	s.t.Helper()
	synctest.Wait()
	if n := s.vendor.Stats().InFlight; n != 0 {
		s.t.Fatalf("%s: the vendor still has %d calls", when, n)
	}
	s.client.Close()
	synctest.Wait()
	if n := s.open.Load(); n != 0 {
		s.t.Fatalf("%s: %d connections are left", when, n)
	}
}

// steady is a vendor whose calls are as long as each other.
var steady = sim.Behaviour{FirstToken: sim.Fixed(200 * time.Millisecond), Call: sim.Fixed(time.Second)}

// BerriAI/litellm#20256: after time-outs and 502 the slots stayed taken until somebody cleared them by hand. #1477: the
// same after a request that the vendor refuses.
func TestNoFailureOfTheVendorLeavesACallBehind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		refuse  bool
		change  func(*sim.Behaviour)
		kind    Kind
		phase   Phase
		streams time.Duration // until a streamed call has ended
		whole   time.Duration // until one that is not streamed has; 0: the same
		wholeIs Kind          // where it differs
	}{
		{name: "connection refused", refuse: true, kind: Unavailable, phase: PhaseConnect},
		{name: "reset before the head", change: func(b *sim.Behaviour) { b.RefuseShare = 1 }, kind: Unavailable},
		{name: "no head", change: func(b *sim.Behaviour) { b.HangShare = 1 }, kind: Timeout, phase: PhaseFirstToken,
			streams: 10 * time.Second, whole: 60 * time.Second},
		{name: "no end of the body", change: func(b *sim.Behaviour) { b.StallShare, b.Gap = 1, sim.Fixed(100*time.Millisecond) },
			kind: Timeout, phase: PhaseGap, streams: -1, whole: 60 * time.Second},
		{name: "502", change: func(b *sim.Behaviour) { b.ErrorShare, b.ErrorStatus = 1, 502 }, kind: Unavailable, streams: 200 * time.Millisecond},
		{name: "429", change: func(b *sim.Behaviour) { b.ErrorShare, b.ErrorStatus = 1, 429 }, kind: RateLimited, streams: 200 * time.Millisecond},
		{name: "400", change: func(b *sim.Behaviour) { b.ErrorShare, b.ErrorStatus = 1, 400 }, kind: Rejected, streams: 200 * time.Millisecond},
		{name: "broken off", change: func(b *sim.Behaviour) { b.TruncateShare = 1 }, kind: Truncated, streams: -1, whole: time.Second},
		{name: "error inside the stream", change: func(b *sim.Behaviour) { b.StreamErrorShare = 1 }, kind: Malformed,
			streams: -1, whole: time.Second, wholeIs: Unavailable},
		{name: "garbage", change: func(b *sim.Behaviour) { b.GarbageShare = 1 }, kind: Malformed, streams: -1, whole: time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := steady
				if tc.change != nil {
					tc.change(&b)
				}
				s := simulated(t, b)
				s.refuse.Store(tc.refuse)
				for i := range 20 {
					streamed := i%2 == 0
					kind, phase, limit := tc.kind, tc.phase, tc.streams
					if !streamed && tc.wholeIs != "" {
						kind = tc.wholeIs
					}
					if !streamed && tc.whole > 0 {
						limit = tc.whole
					}
					if !streamed && kind == Timeout {
						phase = PhaseCall
					}
					start := time.Now()
					e := wantKind(t, s.ask(t.Context(), streamed), kind)
					took := time.Since(start)
					if e.Phase != phase || limit >= 0 && took != limit {
						t.Fatalf("call %d: phase %q after %s, want %q after %s", i, e.Phase, took, phase, limit)
					}
					s.atRest(tc.name)
				}
				s.refuse.Store(false)
				if err := s.vendor.SetBehaviour(steady); err != nil {
					t.Fatal(err)
				}
				if err := s.ask(t.Context(), true); err != nil {
					t.Errorf("the next call: %v", err)
				}
				s.atRest("afterwards")
			})
		})
	}
}

// BerriAI/litellm#27955 (a cancelled stream never gave its slot back), maximhq/bifrost#828 and #6802 (workers did not
// heed the context, an abandoned stream kept its connection for ever), QuantumNous/new-api#4186 and BerriAI/litellm#13774
// (the client was gone, the vendor went on and sent its bill). A bubble ends only when every goroutine has.
func TestAThousandAbortsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const aborts = 1000
		s := simulated(t, steady)
		rng := rand.New(rand.NewPCG(27955, 6802))
		left := errors.New("customer left")
		answered := 0
		for i := range aborts {
			ctx, cancel := context.WithCancelCause(t.Context())
			leave := func() { cancel(left) }
			var timer *time.Timer
			streamed := i%4 > 0
			if i%2 == 0 {
				s.cutAfter(1+rng.IntN(4000), leave)
			} else {
				timer = time.AfterFunc(time.Duration(rng.Int64N(int64(1100*time.Millisecond))), leave)
			}
			switch err := s.ask(ctx, streamed); err {
			case nil:
				answered++
			case left:
			default:
				t.Fatalf("abort %d: %v", i, err)
			}
			if timer != nil {
				timer.Stop()
			}
			s.cutAfter(0, nil)
			s.atRest("after an abort")
			cancel(nil)
		}
		start := time.Now()
		if err := s.ask(t.Context(), true); err != nil || time.Since(start) != time.Second {
			t.Errorf("the next call: %v after %s", err, time.Since(start))
		}
		stats := s.vendor.Stats()
		if stats.MaxInFlight != 1 || stats.Refused != 0 || stats.Cancelled < aborts/2 || answered == 0 {
			t.Errorf("%d were answered, the vendor counted %+v", answered, stats)
		}
	})
}

// QuantumNous/new-api#4186, BerriAI/litellm#31499: whoever leaves before the first byte, between two tokens or while the
// vendor is silent ends the upstream call; the goal is 200 ms, in a bubble it is the same instant.
func TestAbortReachesTheVendorAtOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		behaviour sim.Behaviour
		after     time.Duration
	}{
		"before the first byte":     {steady, 100 * time.Millisecond},
		"in the middle":             {steady, 500 * time.Millisecond},
		"of a vendor that hangs":    {sim.Behaviour{HangShare: 1}, 3 * time.Second},
		"of a stream that is stuck": {sim.Behaviour{FirstToken: sim.Fixed(0), Call: sim.Fixed(0), StallShare: 1}, 3 * time.Second},
	} {
		for _, streamed := range []bool{false, true} {
			if streamed {
				name += ", streamed"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := simulated(t, tc.behaviour)
					ctx, cancel := context.WithTimeout(t.Context(), tc.after)
					defer cancel()
					start := time.Now()
					err := s.ask(ctx, streamed)
					if err != context.DeadlineExceeded || time.Since(start) != tc.after {
						t.Fatalf("error %v after %s", err, time.Since(start))
					}
					s.atRest(name)
					if stats := s.vendor.Stats(); stats.Cancelled != 1 {
						t.Errorf("the vendor counted %+v", stats)
					}
				})
			})
		}
	}
}

// QuantumNous/new-api#5828, ollama/ollama#17881: a stream's handler blocked for ever on a channel that nobody read any
// more. Here the reader goes away at every chunk in turn, in each way that it can.
func TestReaderThatGoesAwayBlocksNobody(t *testing.T) {
	t.Parallel()
	own := errors.New("socket closed")
	for name, away := range map[string]func(cancel func(error)) error{
		"error":  func(func(error)) error { return own },
		"panic":  func(func(error)) error { panic("reader") },
		"cancel": func(cancel func(error)) error { cancel(own); return nil },
		"cancel, then slow": func(cancel func(error)) error {
			cancel(own)
			time.Sleep(30 * time.Second)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := simulated(t, steady)
				for chunk := 1; ; chunk++ {
					ctx, cancel := context.WithCancelCause(t.Context())
					n := 0
					_, err := s.client.GenerateContent(ctx, prompt("Where is my order 1234?"), llms.WithStreamingFunc(func(context.Context, []byte) error {
						if n++; n == chunk {
							return away(cancel)
						}
						return nil
					}))
					cancel(nil)
					s.atRest(name)
					if n < chunk && err == nil {
						if chunk < 3 {
							t.Fatalf("the answer has %d chunks", n)
						}
						return
					}
					if !errors.Is(err, own) && !errors.Is(err, ErrStreamingFunc) {
						t.Fatalf("chunk %d: %v", chunk, err)
					}
				}
			})
		})
	}
}

// A vendor that takes the connection and reads nothing holds neither the caller nor the connection.
func TestVendorThatReadsNothingRunsIntoTheFirstToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var far net.Conn
		c, err := New(Config{Vendor: "a", BaseURL: "http://a/v1", Model: "m", Dial: func(context.Context, string, string) (net.Conn, error) {
			near, other := net.Pipe()
			far = other
			return near, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = ask(t.Context(), c, new(heard))
		if e := wantKind(t, err, Timeout); e.Phase != PhaseFirstToken || time.Since(start) != 10*time.Second {
			t.Errorf("phase %q after %s", e.Phase, time.Since(start))
		}
		if _, err := far.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is open")
		}
	})
}
