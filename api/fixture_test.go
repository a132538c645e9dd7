package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// fixture is a running stage over a real engine, with the tenants demo (high) and
// shop (normal).
type fixture struct {
	*API
	t          *testing.T
	queue      *queue.Queue
	engine     *nats.Conn
	url        string
	client     *http.Client
	demo, shop chat.Keys
	stop       func() // ends Run and returns when it has ended

	cookie, csrf string // of the operator's login; empty: none yet
}

// frontLine is a line in which everybody stands third.
type frontLine struct{}

func (frontLine) Standing(string) (int, time.Duration, bool)  { return 0, 0, false }
func (frontLine) Behind(chat.Lane) (int, time.Duration)       { return 3, 1500 * time.Millisecond }
func classifyByWord(text string) (intent string, urgent bool) { return word(text) }

func word(text string) (string, bool) {
	if strings.Contains(text, "refund") {
		return "refund", true
	}
	return "other", false
}

// setup starts the stage; change may alter what it is built of.
func setup(t *testing.T, change func(*Deps, *Config, *queue.Config)) *fixture {
	t.Helper()
	srv, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(srv.Stop)
	nc, err := srv.Dial()
	must(t, err)
	t.Cleanup(nc.Close)
	bounds, limits := map[chat.Lane]int{}, map[chat.Lane]rules.Lane{}
	for _, l := range chat.Lanes() {
		bounds[l], limits[l] = 500, rules.Lane{Bound: 500, MaxWait: 10 * time.Second}
	}
	limits[chat.Low] = rules.Lane{Bound: 500, MaxWait: 15 * time.Second}
	live := &rules.Rules{Lanes: limits, Sockets: rules.DefaultSockets()}
	deps := Deps{
		Rules: func() *rules.Rules { return live }, Classify: classifyByWord, Line: frontLine{}, Log: zerolog.Nop(),
	}
	cfg, store := Config{}, queue.Config{Bounds: bounds, Fresh: true, Log: zerolog.Nop()}
	if change != nil {
		change(&deps, &cfg, &store)
	}
	q, err := queue.Open(t.Context(), nc, store)
	must(t, err)
	deps.Queue = q
	a, err := New(deps, cfg)
	must(t, err)
	f := &fixture{API: a, t: t, queue: q, engine: nc, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	f.demo, f.shop = f.tenant("demo", chat.High), f.tenant("shop", chat.Normal)
	f.serve()
	return f
}

func (f *fixture) tenant(name string, lane chat.Lane) chat.Keys {
	f.t.Helper()
	tenant, keys := newTenant(name, lane, time.Now())
	tenant.Loopback = true
	must(f.t, f.queue.AddTenant(f.t.Context(), tenant))
	return keys
}

func (f *fixture) serve() {
	f.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(f.t, err)
	f.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := f.Run(ctx, l); err != nil {
			f.t.Error(err)
		}
	}()
	f.stop = func() { cancel(); <-ended }
	f.t.Cleanup(func() { f.client.CloseIdleConnections(); f.stop() })
	<-f.hub.ready()
}

// answer is what a call came to.
type answer struct {
	status int
	header http.Header
	raw    []byte
	json   map[string]any
}

// text returns a field of the answer's JSON as text.
func (a answer) text(field string) string { s, _ := a.json[field].(string); return s }

// call sends a request; body may be nil, a string that is sent as it is, or anything
// that has a JSON form. headers are pairs.
func (f *fixture) call(method, path, key string, body any, headers ...string) answer {
	f.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		must(f.t, err)
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, reader)
	must(f.t, err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := f.client.Do(req)
	must(f.t, err)
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	a.raw, err = io.ReadAll(res.Body)
	must(f.t, err)
	_ = json.Unmarshal(a.raw, &a.json)
	return a
}

// submit hands in a message of demo's that must be accepted, or met again.
func (f *fixture) submit(body map[string]any, headers ...string) answer {
	f.t.Helper()
	a := f.call("POST", "/v1/tickets", f.demo.Secret, body, headers...)
	if a.status != http.StatusAccepted && a.status != http.StatusOK {
		f.t.Fatalf("submit: %d %s", a.status, a.raw)
	}
	return a
}

// take pulls one job of a lane and makes its ticket run.
func (f *fixture) take(lane chat.Lane) (*queue.Job, queue.Stored) {
	f.t.Helper()
	var job *queue.Job
	must(f.t, f.queue.Pull(f.t.Context(), lane, 1, 5*time.Second, func(j *queue.Job) { job = j }))
	if job == nil {
		f.t.Fatal("no job came")
	}
	s, err := f.queue.Admit(f.t.Context(), job)
	must(f.t, err)
	s, err = f.queue.Take(f.t.Context(), s, time.Now().UTC())
	must(f.t, err)
	return job, s
}

// end answers a taken ticket.
func (f *fixture) end(job *queue.Job, s queue.Stored) {
	f.t.Helper()
	s.Answer(chat.Answer{
		Reply: chat.Reply{Text: "It is on its way.", HTML: "<p>It is on its way.</p>", Locale: "en"},
		Route: chat.RouteAgent, Vendor: "a", Model: "model-l",
	}, time.Now().UTC())
	_, err := f.queue.End(f.t.Context(), job, s)
	must(f.t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that an answer is a whole problem document of a status and code.
func refused(t *testing.T, a answer, status int, code string) {
	t.Helper()
	if a.status != status || a.text("code") != code {
		t.Fatalf("got %d %s, want %d %s", a.status, a.raw, status, code)
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type %q", got)
	}
	for _, field := range []string{"type", "title", "detail"} {
		if a.text(field) == "" {
			t.Errorf("%s is missing in %s", field, a.raw)
		}
	}
	if a.json["status"] != float64(status) {
		t.Errorf("status in the body of %s is not %d", a.raw, status)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		if ms, _ := a.json["retry_after_ms"].(float64); ms <= 0 || a.header.Get("Retry-After") == "" {
			t.Errorf("a refusal for load does not say when to try again: %s", a.raw)
		}
	}
}
