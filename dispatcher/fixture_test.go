package dispatcher

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/control"
	"sluice/internal/gate"
	"sluice/internal/llm"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
	"sluice/internal/valve"
	"sluice/worker"
)

func TestMain(m *testing.M) { queuetest.Main(m) }

// setup is what a test changes of the line.
type setup struct {
	Limit     int // permits of the one vendor; its quota is a quarter more
	Behaviour sim.Behaviour
	Ages      map[chat.Lane]time.Duration
	Grace     time.Duration
	Answer    time.Duration
	Worker    Worker // nil: the real one

	Defer    func(*chat.Ticket) (Deferral, bool)
	HandsOff func(*chat.Ticket) bool

	Predict    bool
	Valve      valve.Config
	UrgentWait time.Duration
	Shadow     float64
	Draining   func(chat.Lane) bool
	Bound      int // of each lane; 0: 500
	MaxDeliver int
	Answered   func(*chat.Ticket)
	Log        zerolog.Logger // of the dispatcher; the zero value writes nothing
}

// world is a whole line in a bubble: server, controller, dispatcher, worker, vendor.
type world struct {
	t      *testing.T
	set    setup
	server *queue.Server
	nc     *nats.Conn
	queue  *queue.Queue
	vendor *sim.Vendor
	model  *gate.Model
	worker Worker
	life   *life

	mu     sync.Mutex
	broken queue.Point            // the next write there fails
	first  map[queue.Point]func() // what happens before the next write there
}

// do has something happen before the next write at a point.
func (w *world) do(p queue.Point, f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.first = map[queue.Point]func(){p: f}
}

// breakAt lets the next write at a point fail.
func (w *world) breakAt(p queue.Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = p
}

func (w *world) before(p queue.Point, _ string) error {
	w.mu.Lock()
	if f := w.first[p]; f != nil {
		w.first = nil
		w.mu.Unlock()
		f()
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	if p != w.broken {
		return nil
	}
	w.broken = ""
	return errors.New("the engine is away")
}

// life is one start of the controller and the dispatcher.
type life struct {
	control    *control.Controller
	member     *control.Member
	dispatcher *Dispatcher
	stop       context.CancelFunc // of the dispatcher
	stopped    chan struct{}      // the dispatcher's Run has returned
	end        func()             // stops both and waits
}

// inBubble runs f with a line that is not started yet.
func inBubble(t *testing.T, set setup, f func(t *testing.T, w *world)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		w := &world{t: t, set: set}
		server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely})
		if err != nil {
			t.Fatal(err)
		}
		defer queuetest.Stop(server)
		w.server = server
		if w.nc, err = server.Dial(); err != nil {
			t.Fatal(err)
		}
		defer w.nc.Close()
		bounds := map[chat.Lane]int{}
		for _, lane := range chat.Lanes() {
			bounds[lane] = cmp.Or(set.Bound, 500)
		}
		if w.queue, err = queue.Open(t.Context(), w.nc, queue.Config{Bounds: bounds, Before: w.before, Log: zerolog.Nop()}); err != nil {
			t.Fatal(err)
		}
		defer w.openVendor()()
		defer func() {
			if w.life != nil {
				w.life.end()
			}
		}()
		f(t, w)
	})
}

// openVendor starts the simulated vendor and puts the worker in front of it.
func (w *world) openVendor() (close func()) {
	w.t.Helper()
	vendor, err := sim.NewVendor(sim.Config{Name: "a", Quota: w.set.Limit * 5 / 4, Behaviour: w.set.Behaviour, Record: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.vendor = vendor
	door, server := sim.NewPipeListener(), &http.Server{Handler: vendor.Handler()}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(door) })
	client, err := llm.New(llm.Config{Vendor: "a", BaseURL: "http://a/v1", Model: "m", Dial: door.Dial})
	if err != nil {
		w.t.Fatal(err)
	}
	w.model, err = gate.NewModel(map[string]gate.Backend{
		"a": {Model: client, Name: "m", ReleaseAfter: 250 * time.Millisecond},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.worker = w.set.Worker; w.worker == nil {
		w.worker, err = worker.New(w.model, worker.Config{Templates: map[string]map[string][]string{
			worker.Other: {chat.Chinese: {"稍后"}, chat.English: {"Later."}},
		}})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return func() { client.Close(); _ = server.Close(); serving.Wait() }
}

// start starts the line; it grants 250 ms later.
func (w *world) start() *life {
	w.t.Helper()
	c, err := control.New(w.queue, control.Config{
		Gate: w.set.limits(), Valve: w.set.Valve, Node: "test", Alone: true, Log: zerolog.Nop(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := control.NewMember(w.queue, c, control.MemberConfig{Node: "test", Log: zerolog.Nop()})
	if err != nil {
		w.t.Fatal(err)
	}
	d, err := New(w.queue, m, w.worker, Config{
		Rules: func() Rules { return w.set.rules() }, Grace: w.set.Grace, Answer: w.set.Answer,
		Defer: w.set.Defer, HandsOff: w.set.HandsOff, Draining: w.set.Draining, Answered: w.set.Answered, Log: w.set.Log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	l := &life{control: c, member: m, dispatcher: d, stopped: make(chan struct{})}
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	ruling, depose := context.WithCancel(context.Background())
	asking, leave := context.WithCancel(context.Background())
	left := make(chan struct{})
	var runs sync.WaitGroup
	runs.Go(func() {
		defer close(l.stopped)
		if err := d.Run(ctx); err != nil {
			w.t.Errorf("dispatcher: %v", err)
		}
	})
	runs.Go(func() {
		defer close(left)
		if err := m.Run(asking); err != nil {
			w.t.Errorf("member: %v", err)
		}
	})
	runs.Go(func() {
		if err := c.Run(ruling); err != nil {
			w.t.Errorf("controller: %v", err)
		}
	})
	l.end = sync.OnceFunc(func() {
		l.stop()
		<-l.stopped
		leave()
		<-left
		depose()
		runs.Wait()
	})
	w.life = l
	return l
}

// ready starts the line and waits until it grants.
func (w *world) ready() *life {
	w.t.Helper()
	l := w.start()
	<-l.control.Ready()
	return l
}

func ticket(session, text string, lane chat.Lane, wait time.Duration) chat.Ticket {
	now := time.Now()
	return chat.Ticket{
		ID: chat.NewTicketID(), Tenant: "demo", Session: session, Lane: lane, Message: text,
		Language: chat.Language(text, ""), Intent: "other", AcceptedAt: now, Deadline: now.Add(wait),
	}
}

func (w *world) accept(t chat.Ticket) chat.Ticket {
	w.t.Helper()
	got, _, err := w.queue.Accept(w.t.Context(), t, queue.Claim{})
	if err != nil {
		w.t.Fatalf("accept: %v", err)
	}
	return got
}

// ask accepts a message of a session of its own.
func (w *world) ask(text string, lane chat.Lane, wait time.Duration) chat.Ticket {
	w.t.Helper()
	return w.accept(ticket(chat.NewSessionID(), text, lane, wait))
}

func (w *world) read(id string) chat.Ticket {
	w.t.Helper()
	s, err := w.queue.Ticket(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Ticket
}

// until waits for the end of a ticket.
func (w *world) until(id string, limit time.Duration) chat.Ticket {
	w.t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(max(5*time.Millisecond, limit/1000)) {
		t := w.read(id)
		if t.Status.Ended() {
			return t
		}
		if time.Now().After(end) {
			w.t.Fatalf("ticket %s is still %s after %s", id, t.Status, limit)
		}
	}
}

func (w *world) inUse() int { return w.life.control.Vendors()[0].InUse }

func (w *world) depth(lane chat.Lane, want int) {
	w.t.Helper()
	if got, err := w.queue.Depth(w.t.Context(), lane); err != nil || got != want {
		w.t.Errorf("depth of %s = %d (%v), want %d", lane, got, err, want)
	}
}

// held returns how many jobs the dispatcher has in hand.
func (w *world) held() int { return len(w.life.dispatcher.held.all()) }

// asked returns the questions in the order in which they reached the vendor.
func (w *world) asked() []string {
	var all []string
	for _, p := range w.vendor.Prompts() {
		all = append(all, p.Messages[len(p.Messages)-1].Content)
	}
	return all
}

// lasting is a vendor whose every call takes exactly so long.
func lasting(d time.Duration) sim.Behaviour {
	return sim.Behaviour{FirstToken: sim.Fixed(d / 10), Call: sim.Fixed(d)}
}

var hanging = sim.Behaviour{HangShare: 1}

// limits is the gate of the setup.
func (s setup) limits() gate.Config {
	cfg := gate.Config{Vendors: map[string]gate.Vendor{"a": {Limit: s.Limit}}, Lanes: map[chat.Lane]gate.Lane{}, Predict: s.Predict}
	for lane, age := range s.Ages {
		cfg.Lanes[lane] = gate.Lane{Age: age}
	}
	return cfg
}

// rules is what the dispatcher goes by.
func (s setup) rules() Rules {
	holds := map[chat.Lane]int{chat.High: 500, chat.Normal: 500, chat.Low: 500}
	return Rules{Holds: holds, Agent: Chain{Vendors: []string{"a"}}, RAG: Chain{Vendors: []string{"a"}}, MaxDeliver: cmp.Or(s.MaxDeliver, 5), UrgentWait: s.UrgentWait, Shadow: s.Shadow}
}
