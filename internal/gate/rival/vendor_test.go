//go:build linux

package rival

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// The vendors of a run: one answers at once, the other after the time of a short call.
const (
	prompt     = "prompt"
	usual      = "usual"
	usualDelay = 200 * time.Millisecond
)

// What a vendor answers: an answer of usual length, whole, or in pieces of which the last
// says that it is the last.
const (
	vendorRole = "vendor"
	piece      = "您的订单已经发出，预计明天送到。"
	pieces     = 16
	chunk      = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"` + piece + `"},"finish_reason":null}]}` + "\n\n"
	lastChunk  = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":700,"completion_tokens":160,"total_tokens":860}}` + "\n\ndata: [DONE]\n\n"
	whole = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":700,"completion_tokens":160,"total_tokens":860}}`
)

// vendors is the child that answers as they do.
type vendors struct {
	*child
	base string
}

func startVendors(t testing.TB) *vendors {
	t.Helper()
	c, urls := play(t, vendorRole)
	return &vendors{child: c, base: urls[0]}
}

// url is the base URL of one vendor's API.
func (v *vendors) url(vendor string) string { return v.base + "/" + vendor + "/v1" }

// most returns the most calls that there were at once since it was asked last.
func (v *vendors) most(t testing.TB) int {
	t.Helper()
	resp, err := http.Get(v.base + "/most")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	most, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return most
}

// playVendor serves until it is killed. It speaks the part of the OpenAI protocol that the
// calls need and does nothing else: the simulator that ships takes its time for words and
// faults, more than all that is measured here.
func playVendor() error {
	front, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	desk := &desk{whole: fmt.Appendf(nil, whole, bytes.Repeat([]byte(piece), pieces))}
	mux := http.NewServeMux()
	for vendor, delay := range map[string]time.Duration{prompt: 0, usual: usualDelay} {
		mux.HandleFunc("POST /"+vendor+"/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { desk.chat(w, r, delay) })
	}
	mux.HandleFunc("GET /most", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strconv.FormatInt(desk.most.Swap(0), 10))
	})
	if err := listening("http://" + front.Addr().String()); err != nil {
		return err
	}
	return http.Serve(front, mux)
}

// desk counts and answers calls.
type desk struct {
	whole        []byte
	flight, most atomic.Int64
}

// chat answers one call. It is out of the count before its last byte is on its way: who
// has seen the end may call again at once.
func (d *desk) chat(w http.ResponseWriter, r *http.Request, delay time.Duration) {
	begun, now := time.Now(), d.flight.Add(1)
	for most := d.most.Load(); now > most && !d.most.CompareAndSwap(most, now); most = d.most.Load() {
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && bytes.Contains(body, []byte(`"stream":true`)) {
		err = stream(w, r, begun, delay)
	} else if err == nil {
		err = until(r, begun.Add(delay))
	}
	d.flight.Add(-1)
	if err != nil {
		return // the caller has left
	}
	if w.Header().Get("Content-Type") != "" {
		_, _ = io.WriteString(w, lastChunk)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(d.whole)
}

// stream sends the pieces evenly, the last one after the delay.
func stream(w http.ResponseWriter, r *http.Request, begun time.Time, delay time.Duration) error {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for i := range pieces {
		if err := until(r, begun.Add(delay*time.Duration(i+1)/pieces)); err != nil {
			return err
		}
		if _, err := io.WriteString(w, chunk); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// until waits for an instant, unless the caller leaves.
func until(r *http.Request, at time.Time) error {
	wait := time.Until(at)
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}
