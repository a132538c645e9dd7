package drill

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/internal/rules"
	"sluice/internal/sim"
)

// started starts vendors for the length of a test.
func started(t *testing.T, of ...account) *vendors {
	t.Helper()
	vs, err := startVendors(t.Context(), of, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vs.stop)
	return vs
}

// fast is a vendor that answers at once.
func fast() sim.Behaviour { return sim.Behaviour{FirstToken: sim.Fixed(0), Call: sim.Fixed(0)} }

func ask(ctx context.Context, client *http.Client, url string) (int, error) {
	body := strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", body)
	if err != nil {
		return 0, err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Body.Close()
}

func TestEveryCallIsLoggedAsItEnded(t *testing.T) {
	t.Parallel()
	vs := started(t, account{name: "a", quota: 5, permits: 4})
	v := vs.named("a")
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	failing, breaking, hanging := fast(), fast(), fast()
	failing.ErrorShare, failing.ErrorStatus = 1, http.StatusServiceUnavailable
	breaking.RefuseShare, hanging.HangShare = 1, 1
	for _, b := range []sim.Behaviour{fast(), failing, breaking} {
		if err := v.behave(b); err != nil {
			t.Fatal(err)
		}
		_, _ = ask(t.Context(), client, v.url) // the log tells
	}
	if err := v.behave(hanging); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := ask(ctx, client, v.url)
		left <- err
	}()
	for v.sim.Stats().InFlight == 0 {
		<-time.After(time.Millisecond)
	}
	if calls := v.log.all(); len(calls) != 4 || !calls[3].end.IsZero() {
		t.Errorf("while it hangs: %+v", calls)
	}
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller left with %v", err)
	}
	vs.stop() // which waits for no handler: the log may need a moment
	for v.log.all()[3].end.IsZero() {
		<-time.After(time.Millisecond)
	}
	for i, want := range []call{{status: 200}, {status: 503}, {}, {left: true}} {
		got := v.log.all()[i]
		if got.status != want.status || got.left != want.left || got.end.Before(got.at) {
			t.Errorf("call %d: %+v, want status %d, left %t", i, got, want.status, want.left)
		}
	}
}

func TestAShutDoorNeitherTakesNorRefuses(t *testing.T) {
	t.Parallel()
	v := started(t, account{name: "a", quota: 5, permits: 4}).named("a")
	if err := v.behave(fast()); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 2 { // it works a second time as well
		if status, err := ask(t.Context(), client, v.url); err != nil || status != http.StatusOK {
			t.Fatalf("open: status %d, %v", status, err)
		}
		if err := v.door.shut(t.Context()); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		_, err := net.DialTimeout("tcp", v.door.Addr().String(), knockFor)
		if late, ok := errors.AsType[net.Error](err); !ok || !late.Timeout() {
			t.Fatalf("shut: %v, want a time-out", err)
		}
		if err := v.door.reopen(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRulesOfADrillAreValidAndGiveItsPermits(t *testing.T) {
	t.Parallel()
	for _, of := range [][]account{accounts(), {single()}} {
		vs := started(t, of...)
		for _, s := range []setting{{}, {replicas: 3, connect: connectFor}} {
			r, err := rules.Parse("drill", []byte(writtenRules(vs.all, s)))
			if err != nil {
				t.Fatal(err)
			}
			if r.Replicas != max(s.replicas, 1) {
				t.Errorf("%d replicas, want %d", r.Replicas, s.replicas)
			}
			for i, v := range r.Vendors {
				if v.Limit() != of[i].permits || v.Timeouts.FirstToken != firstToken || v.Breaker.Window != window {
					t.Errorf("vendor %s: %+v", v.Name, v)
				}
			}
		}
	}
}

func TestHealthyVendorsKeepTheScale(t *testing.T) {
	t.Parallel()
	if err := healthy().Validate(); err != nil {
		t.Error(err)
	}
	if got := permitsOf(accounts()); float64(got)/callMean.Seconds() < 2*chatRate {
		t.Errorf("%d permits: the steady chat takes more than half of them", got)
	}
	rest := permitsOf(accounts()[1:])
	if float64(rest)/callMean.Seconds() < 1.5*chatRate {
		t.Errorf("%d permits without the first vendor do not carry the steady chat", rest)
	}
}
