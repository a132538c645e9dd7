package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// overHTTP2 makes a bubbled client speak HTTP/2 without TLS.
func overHTTP2(t *testing.T, vendor http.HandlerFunc) *Client {
	t.Helper()
	return overHTTP2With(t, vendor, 0)
}

func overHTTP2With(t *testing.T, vendor http.HandlerFunc, conns int) *Client {
	t.Helper()
	l := newMemory()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{Handler: attentive(vendor), Protocols: &protocols}
	go func() { _ = srv.Serve(l) }()
	c, err := New(Config{Vendor: "a", BaseURL: "http://vendor.test/v1", Model: "m", Dial: l.dial, MaxConns: conns})
	if err != nil {
		t.Fatal(err)
	}
	c.transport.Protocols = &protocols
	t.Cleanup(func() {
		c.Close()
		_ = srv.Close()
		synctest.Wait()
	})
	return c
}

func TestHTTP2IsSpokenOverTLS(t *testing.T) {
	t.Parallel()
	var proto atomic.Int64
	streamed := events(text("a"), finish("stop"), "[DONE]")
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto.Store(int64(r.ProtoMajor))
		streamed(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	client := func() *Client {
		c, err := New(Config{Vendor: "a", BaseURL: srv.URL + "/v1", Key: testKey, Model: "m", Timeouts: patient})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	_, err := ask(t.Context(), client(), new(heard))
	wantKind(t, err, Unavailable) // nobody known has signed the certificate
	c := client()
	c.transport.TLSClientConfig = &tls.Config{RootCAs: srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	var h heard
	if _, err := ask(t.Context(), c, &h); err != nil || h.text.String() != "a" || proto.Load() != 2 {
		t.Errorf("streamed %q by HTTP/%d, error %v", h.text.String(), proto.Load(), err)
	}
}

func TestLimitsHoldOverHTTP2(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		c := overHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(5 * time.Second) // more than the connect limit
			flushed(w, text("a"))
			hang(r, &gone)
		})
		start := time.Now()
		_, err := ask(t.Context(), c, new(heard))
		if e := wantKind(t, err, Timeout); e.Phase != PhaseGap || time.Since(start) != 20*time.Second {
			t.Errorf("phase %q after %s", e.Phase, time.Since(start))
		}
		synctest.Wait()
		if !gone.Load() {
			t.Error("the upstream call goes on")
		}
	})
}

func TestCancelAndLossOverHTTP2(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("customer left")
		var gone, lose atomic.Bool
		c := overHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
			flushed(w, text("a"))
			if lose.Load() {
				panic(http.ErrAbortHandler)
			}
			hang(r, &gone)
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := c.GenerateContent(ctx, prompt("hello"), llms.WithStreamingFunc(func(context.Context, []byte) error {
			cancel(stop)
			return nil
		}))
		synctest.Wait()
		if err != stop || !gone.Load() {
			t.Errorf("error %v, upstream ended %t", err, gone.Load())
		}
		lose.Store(true)
		_, err = ask(t.Context(), c, new(heard))
		wantKind(t, err, Unavailable)
	})
}

func TestCallsShareOneConnectionOverHTTP2(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := overHTTP2With(t, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			flushed(w, text("a"))
			flushed(w, finish("stop"))
			flushed(w, "[DONE]")
		}, 1)
		start := time.Now()
		for range 2 {
			var calls sync.WaitGroup
			for range 20 {
				calls.Go(func() {
					ctx, timing := WithTiming(t.Context())
					if _, err := ask(ctx, c, new(heard)); err != nil || timing.FirstToken() != time.Second {
						t.Errorf("error %v, first token %s", err, timing.FirstToken())
					}
				})
			}
			calls.Wait()
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %s", took)
		}
	})
}
