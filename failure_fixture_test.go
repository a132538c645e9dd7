package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// outage is a world in which vendors fail. A front stands before each of them, for what
// no vendor is simulated to do.
type outage struct {
	*world
	fronts  map[string]*front
	bare    bool        // no dispatcher runs
	refuses atomic.Bool // connections to the vendors
	alerts  alerts
	asked   atomic.Int64
	lives   []*life
}

// inOutage runs f in a bubble with vendors that behave as b.
func inOutage(t *testing.T, doc string, b sim.Behaviour, f func(t *testing.T, o *outage)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		o := newOutage(t, doc, sim.Config{Behaviour: b, Record: true})
		defer o.end()
		f(t, o)
	})
}

// atGate is inOutage without dispatchers: the calls are the test's own.
func atGate(t *testing.T, doc string, b sim.Behaviour, f func(t *testing.T, o *outage)) {
	t.Helper()
	inOutage(t, doc, b, func(t *testing.T, o *outage) {
		o.bare = true
		f(t, o)
	})
}

// end stops every process that is not dead, and the vendors.
func (o *outage) end() {
	for _, l := range o.lives {
		if l.isDead() {
			l.bury()
		} else {
			l.stop()
		}
	}
	o.close()
}

func newOutage(t *testing.T, doc string, vendor sim.Config) *outage {
	t.Helper()
	o := &outage{
		world:  &world{t: t, dir: t.TempDir(), rules: testRules(t, doc), vendors: map[string]*sim.Vendor{}, doors: map[string]*sim.PipeListener{}},
		fronts: map[string]*front{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.stopVendors = cancel
	for i, v := range o.rules.Vendors {
		cfg := vendor
		cfg.Name, cfg.Quota, cfg.Seed = v.Name, v.Quota, uint64(i)
		simulated, err := sim.NewVendor(cfg)
		if err != nil {
			t.Fatal(err)
		}
		o.vendors[v.Name], o.fronts[v.Name] = simulated, &front{vendor: simulated.Handler()}
		door, server := sim.NewPipeListener(), &http.Server{Handler: o.fronts[v.Name]}
		for _, e := range v.Endpoints {
			o.doors[hostOf(t, e.URL)] = door
		}
		o.serving.Go(func() { _ = server.Serve(door) })
		o.serving.Go(func() { <-ctx.Done(); _ = server.Close() })
	}
	o.startBroker()
	return o
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req.URL.Host
}

// alone starts the one process of the embedded default, and waits until it grants.
func (o *outage) alone() *life { return o.start(true) }

// join starts one more process of a cluster: dispatcher, member and candidate. The first
// one is elected.
func (o *outage) join() *life { return o.start(false) }

func (o *outage) start(alone bool) *life {
	o.t.Helper()
	nc, err := o.broker.Dial()
	if err != nil {
		o.t.Fatal(err)
	}
	l := &life{w: o.world, nc: nc, ended: make(chan struct{}), crashed: make(chan struct{})}
	l.queue, err = queue.Open(o.t.Context(), nc, queue.Config{Bounds: bounds(o.rules), Fresh: alone, Before: l.before, Log: zerolog.Nop()})
	if err != nil {
		o.t.Fatal(err)
	}
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if o.refuses.Load() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		}
		conn, err := l.dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &tracked{Conn: conn, l: l}, nil
	}
	if l.fleet, err = newFleet(o.rules, asWritten(func(string) string { return "" }), dial); err != nil {
		o.t.Fatal(err)
	}
	in, err := unchanging(o.rules)
	if err != nil {
		o.t.Fatal(err)
	}
	if l.line, err = newLine(l.queue, in, l.fleet, alone, allOpen, zerolog.New(&o.alerts).Level(zerolog.ErrorLevel)); err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	stages := pipeline{stages: l.line.stages()}
	if o.bare {
		stages.stages = slices.DeleteFunc(stages.stages, func(s stage) bool { return s.name == "dispatcher" })
	}
	go func() {
		defer close(l.ended)
		if err := stages.run(ctx, func() {}); err != nil && !l.isDead() {
			o.t.Errorf("pipeline: %v", err)
		}
	}()
	<-l.line.member.Ready()
	<-l.line.control.Ready()
	time.Sleep(time.Second) // the controller has heard this node
	o.lives = append(o.lives, l)
	return l
}

// tracked is a connection that its process forgets when it is closed.
type tracked struct {
	net.Conn
	l *life
}

func (c *tracked) Close() error {
	c.l.mu.Lock()
	c.l.conns = slices.DeleteFunc(slices.Clone(c.l.conns), func(other net.Conn) bool { return other == c.Conn })
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// question is what a call asks the model.
func question(text string) []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
}

// wish is an ask for a ticket of a session of its own. Without a limit it has no deadline,
// and is never predicted away.
func (o *outage) wish(lane chat.Lane, limit time.Duration) gate.Ask {
	n, now := o.asked.Add(1), time.Now()
	a := gate.Ask{
		Tenant: "demo", Session: fmt.Sprint("session", n), Ticket: fmt.Sprint("ticket", n), Lane: lane, Seq: 1,
		AcceptedAt: now, Vendors: o.rules.Chains["agent"].Vendors, Model: o.rules.Chains["agent"].Model,
	}
	if limit > 0 {
		a.Deadline = now.Add(limit)
	}
	return a
}

// streamed is the option of a call whose answer is read piece by piece.
func streamed() llms.CallOption {
	return llms.WithStreamingFunc(func(context.Context, []byte) error { return nil })
}

// permit waits for a permit until the ask's deadline, and for half an hour if it has none:
// whoever is forgotten then fails its test.
func (l *life) permit(ctx context.Context, a gate.Ask) (gate.Permit, error) {
	limit := a.Deadline
	if limit.IsZero() {
		limit = time.Now().Add(30 * time.Minute)
	}
	ctx, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	return l.line.member.Ask(ctx, a)
}

// call makes one call as a dispatcher does: it waits for the permit, calls, and gives back
// whatever is left.
func (l *life) call(ctx context.Context, a gate.Ask, text string, options ...llms.CallOption) (*llms.ContentResponse, error) {
	p, err := l.permit(ctx, a)
	if err != nil {
		return nil, err
	}
	defer l.line.member.EndTurn(a.Tenant, a.Session, a.Ticket)
	caller := gate.NewCaller(l.line.member, a, p)
	defer caller.Close()
	return l.fleet.model.GenerateContent(gate.WithCaller(ctx, caller), question(text), options...)
}

// inUse returns the permits of a vendor in use, by the controller that is elected.
func (o *outage) inUse(vendor string) (n int) {
	for _, l := range o.lives {
		if l.isDead() {
			continue
		}
		for _, v := range l.line.control.Vendors() {
			if v.Name == vendor {
				n += v.InUse
			}
		}
	}
	return n
}

// waiting returns how many wait for a permit.
func (o *outage) waiting() (n int) {
	for _, l := range o.lives {
		if !l.isDead() {
			n += l.line.control.Waiting()
		}
	}
	return n
}

// atRest fails unless at this instant no permit is in use, nobody waits, and the vendors,
// by their own count, have no call and never had more than their limits.
func (o *outage) atRest(when string) {
	o.t.Helper()
	synctest.Wait()
	for _, v := range o.rules.Vendors {
		s := o.vendors[v.Name].Stats()
		if s.InFlight != 0 || s.MaxInFlight > v.Limit() || s.Refused != 0 {
			o.t.Errorf("%s: vendor %s of %d permits counted %+v", when, v.Name, v.Limit(), s)
		}
		if n := o.inUse(v.Name); n != 0 {
			o.t.Errorf("%s: vendor %s has %d permits in use", when, v.Name, n)
		}
	}
	if n := o.waiting(); n != 0 {
		o.t.Errorf("%s: %d wait", when, n)
	}
}

// behave changes how a vendor answers from now on.
func (o *outage) behave(vendor string, b sim.Behaviour) {
	o.t.Helper()
	if err := o.vendors[vendor].SetBehaviour(b); err != nil {
		o.t.Fatal(err)
	}
}

// front stands before a vendor: it notes when calls come, and may answer in its place.
type front struct {
	vendor http.Handler

	mu      sync.Mutex
	came    []time.Time
	instead func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) // nil: the vendor serves
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.came = append(f.came, time.Now())
	instead := f.instead
	f.mu.Unlock()
	if instead != nil {
		instead(w, r, f.vendor.ServeHTTP)
		return
	}
	f.vendor.ServeHTTP(w, r)
}

// replace lets calls from now on be served by another; nil: by the vendor.
func (f *front) replace(by func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.instead = by
}

// since returns when calls have come from the n-th on, counted from 0.
func (f *front) since(n int) []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Time(nil), f.came[min(n, len(f.came)):]...)
}

// alerts keeps what was logged as an error.
type alerts struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (a *alerts) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.log.Write(line)
}

func (a *alerts) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.log.String()
}
