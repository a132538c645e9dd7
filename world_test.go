package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/metrics"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// world is what outlives a process: the broker's files and the vendors. It lives
// inside a synctest bubble, so its clock is exact and free.
type world struct {
	t       *testing.T
	dir     string
	rules   *rules.Rules
	broker  *queue.Server
	vendors map[string]*sim.Vendor
	doors   map[string]*sim.PipeListener
	shop    *sim.Shop
	faqs    *faqs          // nil: the FAQ answers nothing
	log     zerolog.Logger // of all processes; they keep quiet unless it is set
	real    bool           // it is in no bubble
	vectors string         // address of a database of vectors; empty: there is none
	most    int            // numbers that are compared in memory; 0: as many as ever

	stopVendors context.CancelFunc
	serving     sync.WaitGroup
}

func newWorld(t *testing.T, r *rules.Rules, b sim.Behaviour) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), rules: r, vendors: map[string]*sim.Vendor{}, doors: map[string]*sim.PipeListener{}}
	ctx, cancel := context.WithCancel(context.Background())
	w.stopVendors = cancel
	for i, v := range r.Vendors {
		vendor, err := sim.NewVendor(sim.Config{Name: v.Name, Quota: v.Quota, Behaviour: b, Record: true, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		door := sim.NewPipeListener()
		w.vendors[v.Name], w.doors[v.Name] = vendor, door
		server := &http.Server{Handler: vendor.Handler()}
		w.serving.Go(func() { _ = server.Serve(door) })
		w.serving.Go(func() { <-ctx.Done(); _ = server.Close() })
	}
	w.openShop(ctx)
	w.startBroker()
	return w
}

// openShop serves the demo shop where the shipped tools look for it.
func (w *world) openShop(ctx context.Context) {
	w.t.Helper()
	shop, err := sim.NewShop(time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	host, _, _ := net.SplitHostPort(sim.DefaultShopAddr)
	door := sim.NewPipeListener()
	w.shop, w.doors[host] = shop, door
	server := &http.Server{Handler: shop.Handler()}
	w.serving.Go(func() { _ = server.Serve(door) })
	w.serving.Go(func() { <-ctx.Done(); _ = server.Close() })
}

func (w *world) startBroker() {
	w.t.Helper()
	broker, err := queue.StartServer(w.t.Context(), queue.ServerConfig{Dir: w.dir, Sync: queuetest.Rarely})
	if err != nil {
		w.t.Fatal(err)
	}
	w.broker = broker
}

func (w *world) close() {
	if w.real {
		w.broker.Stop()
	} else {
		queuetest.Stop(w.broker)
	}
	w.stopVendors()
	w.serving.Wait()
}

// life is one process on a world: all of its Go state, none of which survives it.
type life struct {
	w      *world
	nc     *nats.Conn
	queue  *queue.Queue
	line   *line
	books  *library // nil: its rules ship no documents
	fleet  *fleet
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	dead    bool
	dieAt   queue.Point // the write before which the process dies, or ""
	skip    int         // how many such writes it survives
	conns   []net.Conn
	crashed chan struct{}
}

var errDead = errors.New("the process is dead")

// live starts a process. It grants from the moment that its controller has settled.
func (w *world) live() *life {
	w.t.Helper()
	nc, err := w.broker.Dial()
	if err != nil {
		w.t.Fatal(err)
	}
	l := &life{w: w, nc: nc, ended: make(chan struct{}), crashed: make(chan struct{})}
	l.queue, err = queue.Open(w.t.Context(), nc, queue.Config{
		Bounds: bounds(w.rules), Fresh: true, Before: l.before, Log: w.log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	l.fleet, err = newFleet(w.rules, func(v rules.Vendor, _ int) (string, string) { return "http://" + v.Name + "/v1", "" }, l.dial)
	if err != nil {
		w.t.Fatal(err)
	}
	in, err := unchanging(w.rules)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.rules.Knowledge.Shipped {
		in.library = newLibrary(l.queue, in, true, w.log)
		l.books = in.library
	}
	in.faqs = w.faqs
	if w.vectors != "" {
		in.shelves = newShelves(w.vectors, l.queue, in.library, metrics.New(), w.log)
	}
	l.line, err = newLine(l.queue, in, l.fleet, true, allOpen, w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.most > 0 {
		l.line.embeddings.most = w.most
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	stages := pipeline{stages: l.line.stages()}
	if l.books != nil {
		stages.stages = append(stages.stages, stage{name: "knowledge", run: l.books.run})
	}
	if in.shelves != nil {
		stages.stages = append(stages.stages, stage{name: "pgvector", run: in.shelves.run})
	}
	go func() {
		defer close(l.ended)
		if err := stages.run(ctx, func() {}); err != nil && !l.isDead() {
			w.t.Errorf("pipeline: %v", err)
		}
	}()
	return l
}

// unchanging is rules that nobody changes.
func unchanging(r *rules.Rules) (*live, error) {
	first, err := build(1, r, nil)
	if err != nil {
		return nil, err
	}
	l := &live{name: rand.Text()}
	l.now.Store(first)
	return l, nil
}

// dial reaches a simulated vendor in memory, until the process is dead.
func (l *life) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	conn, err := l.w.doors[host].Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return nil, errors.Join(errDead, conn.Close())
	}
	l.conns = append(l.conns, conn)
	return conn, nil
}

// before lets the process die at the armed point; a dead process writes nothing.
func (l *life) before(p queue.Point, _ string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return errDead
	}
	if p != l.dieAt {
		return nil
	}
	if l.skip > 0 {
		l.skip--
		return nil
	}
	l.dead = true
	close(l.crashed)
	return errDead
}

func (l *life) armed(p queue.Point, skip int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dieAt, l.skip = p, skip
}

func (l *life) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// kill ends the process as kill -9 does: no further write, every connection gone. What
// is left of its goroutines can reach nothing.
func (l *life) kill() {
	l.mu.Lock()
	if !l.dead {
		l.dead = true
	}
	conns := l.conns
	l.mu.Unlock()
	l.nc.Close()
	for _, c := range conns {
		_ = c.Close()
	}
	l.cancel()
}

// stop ends the process as SIGTERM does.
func (l *life) stop() {
	l.cancel()
	<-l.ended
	l.nc.Close()
	l.fleet.close()
}

// bury waits until nothing of a killed process is left.
func (l *life) bury() {
	<-l.ended
	l.fleet.close()
}

// ask makes a ticket as the intake does.
func (w *world) ask(session, text string, lane chat.Lane, wait time.Duration) chat.Ticket {
	now := time.Now()
	return chat.Ticket{
		ID: chat.NewTicketID(), Tenant: "demo", Session: session, Lane: lane, Message: text,
		Language: chat.Language(text, ""), Intent: "other", AcceptedAt: now, Deadline: now.Add(wait),
	}
}

// accept makes a ticket durable, and fails the test if it cannot.
func (l *life) accept(t chat.Ticket) chat.Ticket {
	l.w.t.Helper()
	got, _, err := l.queue.Accept(l.w.t.Context(), t, queue.Claim{})
	if err != nil {
		l.w.t.Fatalf("accept: %v", err)
	}
	return got
}

// until waits, in the bubble's time, until every ticket has ended.
func (l *life) until(limit time.Duration, ids ...string) []chat.Ticket {
	l.w.t.Helper()
	end := time.Now().Add(limit)
	tickets := make([]chat.Ticket, 0, len(ids))
	for _, id := range ids {
		for {
			s, err := l.queue.Ticket(l.w.t.Context(), id)
			if err != nil {
				l.w.t.Fatalf("ticket %s: %v", id, err)
			}
			if s.Status.Ended() {
				tickets = append(tickets, s.Ticket)
				break
			}
			if time.Now().After(end) {
				l.w.t.Fatalf("ticket %s is still %s after %s", id, s.Status, limit)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return tickets
}

// allOpen is the state of lanes that nobody steers.
func allOpen(chat.Lane) chat.LaneState { return chat.LaneOpen }

// closedValve keeps the level at 0: most tests are about the line, and count what vendors see.
const closedValve = `
valve:
  min_calls: 1000000000
  shadow: 0
  levels: [{depth: 0.97, errors: 0.97, p99: 24h, wait: 24h}, {depth: 0.98, errors: 0.98, p99: 25h, wait: 25h}, {depth: 0.99, errors: 0.99, p99: 26h, wait: 26h}]
`

// testRules reads rules; without a heading valve of their own the level stays at 0.
func testRules(t *testing.T, doc string) *rules.Rules {
	t.Helper()
	if !strings.Contains(doc, "valve:") {
		doc += closedValve
	}
	r, err := rules.Parse("test.yaml", []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const smallRules = `
vendors:
  - {name: a, endpoints: [{url: "http://a/v1"}], models: {strong: m}, quota: 5, headroom: 0.8}
  - {name: b, endpoints: [{url: "http://b/v1"}], models: {strong: m}, quota: 3, headroom: 0.8}
chains:
  agent: {vendors: [a, b], model: strong}
  rag: {vendors: [a, b], model: strong}
`

func TestAQuestionTravelsToItsAnswer(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		l := w.live()
		asked := l.accept(w.ask("s1", "Where is my order 1234?", chat.Normal, 10*time.Second))
		got := l.until(20*time.Second, asked.ID)[0]
		if got.Status != chat.Answered || got.Route != chat.RouteAgent || got.Vendor != "a" || got.Reply.Text == "" {
			t.Errorf("ticket = %+v, want an answer of the agent at vendor a", got)
		}
		events, head, ok, err := l.queue.Events(t.Context(), "demo", "s1", 0, 100)
		if err != nil || !ok || head != 2 || len(events) != 2 {
			t.Fatalf("events = %v, head %d, ok %v, err %v; want 2 gapless ones", events, head, ok, err)
		}
		if events[0].Who != chat.ByCustomer || events[1].Who != chat.ByBot || events[1].Text != got.Reply.Text {
			t.Errorf("events = %+v, want the customer's and the bot's", events)
		}
		for _, v := range l.line.control.Vendors() {
			if v.InUse != 0 {
				t.Errorf("vendor %s has %d permits in use at rest", v.Name, v.InUse)
			}
		}
		l.stop()
		w.close()
	})
}

func fmtEvents(events []chat.Event) string {
	var out strings.Builder
	for _, e := range events {
		out.WriteString(fmt.Sprintf("\n  %d %s %s %s %s", e.Seq, e.Kind, e.Who, e.Ticket, e.Status))
	}
	return out.String()
}
