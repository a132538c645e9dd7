package sim

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestServerRunsSeveralVendorsUntilItIsStopped(t *testing.T) {
	t.Parallel()
	configs := Defaults()
	for i := range configs {
		configs[i].Addr, configs[i].Behaviour = "", fast
	}
	s, err := Listen(t.Context(), "127.0.0.1:0", configs)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()

	for _, v := range s.Vendors() {
		if status, _, body := do(t, http.MethodPost, s.URL(v.Name())+"/chat/completions", "", plainQuestion("hi")); status != 200 {
			t.Errorf("vendor %s: %d %s", v.Name(), status, body)
		}
	}
	if status, _, _ := do(t, http.MethodPut, s.ControlURL()+"/b/sim/behaviour", "", `{"hang_share":1}`); status != 200 {
		t.Errorf("control of b: %d", status)
	}
	if s.Vendor("b").Behaviour().HangShare != 1 || s.Vendor("a").Behaviour().HangShare != 0 {
		t.Error("the wrong vendor changed")
	}
	if _, _, body := do(t, http.MethodGet, s.ControlURL()+"/sim/stats", "", ""); !strings.HasPrefix(body, `{"a":{"vendor":"a","quota":60,`) {
		t.Errorf("stats of all: %s", body)
	}
	if status, _, body := do(t, http.MethodPatch, s.ControlURL()+"/sim/behaviour", "", `{"stall_share":0.5}`); status != 400 {
		t.Errorf("a change that b cannot take: %d %s", status, body)
	}
	if s.Vendor("a").Behaviour().StallShare != 0 {
		t.Error("a refused change reached a vendor")
	}

	hung := make(chan error, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Post(s.URL("b")+"/chat/completions", "application/json", strings.NewReader(plainQuestion("hi")))
		if err == nil {
			_ = res.Body.Close()
		}
		hung <- err
	}()
	for deadline := time.Now().Add(10 * time.Second); s.Vendor("b").Stats().InFlight == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the hanging call did not arrive")
		}
		select {
		case err := <-hung:
			t.Fatalf("the call did not hang: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run: %v", err)
	}
	if err := <-hung; err == nil {
		t.Error("the hanging call ended well")
	}
	if got := s.Vendor("b").Stats(); got.InFlight != 0 || got.Cancelled != 1 {
		t.Errorf("stats after the stop %+v", got)
	}
}

// An account's quota holds for all its endpoints together.
func TestEndpointsOfOneVendorCountAsOne(t *testing.T) {
	t.Parallel()
	s, err := Listen(t.Context(), "", []Config{{Name: "a", More: []string{"", ""}, Quota: 2, Behaviour: Behaviour{HangShare: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	urls := s.URLs("a")
	if len(urls) != 3 || urls[0] != s.URL("a") || urls[1] == urls[2] || s.URLs("b") != nil {
		t.Fatalf("urls = %v", urls)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	hung := make(chan error, 2)
	for i := range 2 {
		go func() {
			res, err := client.Post(urls[i]+"/chat/completions", "application/json", strings.NewReader(plainQuestion("hi")))
			if err == nil {
				_ = res.Body.Close()
			}
			hung <- err
		}()
	}
	for deadline := time.Now().Add(10 * time.Second); s.Vendor("a").Stats().InFlight < 2; {
		if time.Now().After(deadline) {
			t.Fatalf("the calls did not arrive: %+v", s.Vendor("a").Stats())
		}
		<-time.After(time.Millisecond)
	}
	if status, _, body := do(t, http.MethodPost, urls[2]+"/chat/completions", "", plainQuestion("hi")); status != http.StatusTooManyRequests {
		t.Errorf("a third call by the third endpoint: %d %s", status, body)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run: %v", err)
	}
	for range 2 {
		<-hung
	}
	if got := s.Vendor("a").Stats(); got.Calls != 3 || got.Refused != 1 || got.InFlight != 0 {
		t.Errorf("stats %+v", got)
	}
}

func TestListenNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for want, configs := range map[string][]Config{
		`name "A"`:                      {{Name: "A"}},
		"quota -1":                      {{Name: "a", Quota: -1}},
		"slow: -1":                      {{Name: "a", Behaviour: Behaviour{Slow: -1}}},
		"two vendors have it":           {{Name: "a"}, {Name: "a"}},
		"listen for simulated vendor b": {{Name: "a"}, {Name: "b", Addr: taken.Addr().String()}},
		"listen for simulated vendor c": {{Name: "a"}, {Name: "c", More: []string{"", taken.Addr().String()}}},
	} {
		if _, err := Listen(t.Context(), "", configs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestRunEndsWhenAListenerFails(t *testing.T) {
	t.Parallel()
	s, err := Listen(t.Context(), "127.0.0.1:0", []Config{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("run: %v", err)
	}
}

func TestPipeListenerConnectsAndCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewPipeListener()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Dial(ctx, "tcp", "anywhere:1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody accepts: %v", err)
		}
		go func() {
			conn, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = conn.Write([]byte("x"))
			_ = conn.Close()
		}()
		conn, err := l.Dial(t.Context(), "tcp", "anywhere:1")
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 1)
		if _, err := conn.Read(got); err != nil || got[0] != 'x' {
			t.Errorf("read %q: %v", got, err)
		}
		_ = conn.Close()
		waiting := make(chan error, 1)
		go func() {
			_, err := l.Dial(t.Context(), "tcp", "anywhere:1")
			waiting <- err
		}()
		synctest.Wait()
		_ = l.Close()
		_ = l.Close()
		if err := <-waiting; !errors.Is(err, net.ErrClosed) {
			t.Errorf("a waiting dial: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accept: %v", err)
		}
		if _, err := l.Dial(t.Context(), "tcp", "anywhere:1"); !errors.Is(err, net.ErrClosed) {
			t.Errorf("dial: %v", err)
		}
	})
}
