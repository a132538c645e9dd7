//go:build browser

package web_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/api"
	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// stage is a running api over a real engine, with a dispatcher that answers by script.
type stage struct {
	t     *testing.T
	queue *queue.Queue
	url   string
	lines *lines
	jobs  chan running
	key   string // publishable
	make  func() *api.API
	stop  func() // ends the api in an orderly way
}

// running is a ticket in the test's hands.
type running struct {
	job    *queue.Job
	stored queue.Stored
}

// third is a line in which everybody stands third.
type third struct{}

func (third) Standing(string) (int, time.Duration, bool)      { return 3, 12 * time.Second, true }
func (third) Behind(chat.Lane) (int, time.Duration)           { return 3, 12 * time.Second }
func (s *stage) classify(string) (intent string, urgent bool) { return rules.Other, false }

func newStage(t *testing.T) *stage {
	t.Helper()
	srv, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(srv.Stop)
	nc, err := srv.Dial()
	must(t, err)
	t.Cleanup(nc.Close)
	bounds, limits := map[chat.Lane]int{}, map[chat.Lane]rules.Lane{}
	for _, l := range chat.Lanes() {
		bounds[l], limits[l] = 100, rules.Lane{Bound: 100, MaxWait: 10 * time.Second}
	}
	s := &stage{t: t, jobs: make(chan running)}
	s.queue, err = queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Fresh: true, Log: zerolog.Nop()})
	must(t, err)
	keys := chat.NewKeys()
	demo := chat.Tenant{Name: "demo", Lane: chat.High, Loopback: true, IdentitySecret: identitySecret, CreatedAt: time.Now()}
	demo.SetKeys(keys)
	must(t, s.queue.AddTenant(t.Context(), demo))
	s.key = keys.Publishable
	live := &rules.Rules{Lanes: limits, Sockets: rules.DefaultSockets()}
	s.make = func() *api.API {
		a, err := api.New(api.Deps{
			Queue: s.queue, Rules: func() *rules.Rules { return live }, Classify: s.classify, Line: third{}, Log: zerolog.Nop(),
		}, api.Config{DemoTenant: demo.Name})
		must(t, err)
		return a
	}
	s.serve("127.0.0.1:0")
	t.Cleanup(func() { s.stop() })
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { s.take(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	return s
}

// serve starts the api on an address.
func (s *stage) serve(address string) {
	s.t.Helper()
	inner, err := net.Listen("tcp", address)
	must(s.t, err)
	s.lines = &lines{Listener: inner}
	s.url = "http://" + inner.Addr().String()
	a, l := s.make(), s.lines
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := a.Run(ctx, l); err != nil {
			s.t.Error(err)
		}
	})
	s.stop = func() { cancel(); wg.Wait() }
}

// take hands each job to the test once it asks for one.
func (s *stage) take(ctx context.Context) {
	for ctx.Err() == nil {
		_ = s.queue.Pull(ctx, chat.High, 1, time.Second, func(j *queue.Job) {
			select {
			case s.jobs <- running{job: j}:
			case <-ctx.Done():
			}
		})
	}
}

// next makes the next waiting ticket run.
func (s *stage) next() running {
	s.t.Helper()
	select {
	case r := <-s.jobs:
		var err error
		r.stored, err = s.queue.Admit(s.t.Context(), r.job)
		must(s.t, err)
		r.stored, err = s.queue.Take(s.t.Context(), r.stored, time.Now().UTC())
		must(s.t, err)
		return r
	case <-time.After(10 * time.Second):
		s.t.Fatal("no job came")
		return running{}
	}
}

// say sends one piece of the answer.
func (s *stage) say(r running, i int, text string) {
	s.t.Helper()
	d := chat.Delta{Ticket: r.stored.ID, Attempt: r.stored.Attempts, I: i, Text: text}
	must(s.t, s.queue.SendDelta(r.stored.Tenant, r.stored.Session, d))
}

func (s *stage) answer(r running, text, html, locale string) {
	s.t.Helper()
	r.stored.Answer(chat.Answer{
		Reply: chat.Reply{Text: text, HTML: html, Locale: locale}, Route: chat.RouteAgent, Vendor: "a", Model: "m",
	}, time.Now().UTC())
	_, err := s.queue.End(s.t.Context(), r.job, r.stored)
	must(s.t, err)
}

// lines is a listener whose connections a test can cut.
type lines struct {
	net.Listener
	mu    sync.Mutex // guards conns
	conns []net.Conn
}

// Accept notes the connection.
func (l *lines) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		l.conns = append(l.conns, c)
		l.mu.Unlock()
	}
	return c, err
}

func (l *lines) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

// open reports whether anybody came since the last cut.
func (l *lines) open() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns) > 0
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
