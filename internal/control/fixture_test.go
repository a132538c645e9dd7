package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
)

// openQueue opens a queue on a server of its own. close ends both.
func openQueue(t testing.TB) (q *queue.Queue, close func()) {
	t.Helper()
	server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 10
	}
	q, err = queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return q, func() { nc.Close(); server.Stop() }
}

// single is the controller of the embedded default, with the way to it.
type single struct {
	*Member
	control *Controller
}

// Ready is closed when permits are granted.
func (s *single) Ready() <-chan struct{} { return s.control.Ready() }

func (s *single) Vendors() []Vendor { return s.control.Vendors() }

func (s *single) Waiting() int { return s.control.Waiting() }

func newController(t testing.TB, q *queue.Queue, limit int) *single {
	t.Helper()
	c, err := New(q, Config{
		Gate: permits(map[string]int{"a": limit}),
		Node: "test", Alone: true, Log: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMember(q, c, MemberConfig{Node: "test", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return &single{Member: m, control: c}
}

// start runs the controller and its member until stop, which waits for their end.
func start(t testing.TB, c *single) (stop func()) {
	t.Helper()
	ruling, depose := context.WithCancel(context.Background())
	asking, leave := context.WithCancel(context.Background())
	ruled, asked := make(chan error, 1), make(chan error, 1)
	go func() { ruled <- c.control.Run(ruling) }()
	go func() { asked <- c.Run(asking) }()
	return sync.OnceFunc(func() {
		leave()
		left := <-asked
		depose()
		if err := errors.Join(left, <-ruled); err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

// inBubble runs f with a controller that grants.
func inBubble(t *testing.T, limit int, f func(t *testing.T, c *single)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		q, closeQueue := openQueue(t)
		c := newController(t, q, limit)
		stop := start(t, c)
		<-c.Ready()
		f(t, c)
		stop()
		closeQueue()
	})
}

// asker makes an ask of a session and ticket of its own.
func asker(n int) gate.Ask {
	return gate.Ask{
		Tenant: "demo", Session: fmt.Sprint("s", n), Ticket: fmt.Sprint("t", n), Lane: chat.Normal, Seq: 1,
		AcceptedAt: time.Now(), Vendors: []string{"a"},
	}
}

// result is what an ask came to.
type result struct {
	permit gate.Permit
	err    error
	at     time.Time
}

// ask asks in the background.
func ask(ctx context.Context, c *single, a gate.Ask) <-chan result {
	out := make(chan result, 1)
	go func() {
		p, err := c.Ask(ctx, a)
		out <- result{p, err, time.Now()}
	}()
	return out
}

func mustAsk(t testing.TB, c *single, a gate.Ask) gate.Permit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	p, err := c.Ask(ctx, a)
	if err != nil {
		t.Fatalf("ask of %s: %v", a.Ticket, err)
	}
	return p
}

func inUse(c *single) int { return c.Vendors()[0].InUse }

// permits is rules with so many permits per vendor, under which low rises after 20 s.
func permits(limits map[string]int) gate.Config {
	cfg := gate.Config{Vendors: map[string]gate.Vendor{}, Lanes: map[chat.Lane]gate.Lane{chat.Low: {Age: 20 * time.Second}}}
	for name, limit := range limits {
		cfg.Vendors[name] = gate.Vendor{Limit: limit}
	}
	return cfg
}
