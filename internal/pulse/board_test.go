package pulse

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
)

// cluster is processes on one server, in a bubble.
type cluster struct {
	t      *testing.T
	server *queue.Server
}

// member is one process: a queue of its own, a tally, and on an api node a board.
type member struct {
	*queue.Queue
	tally *Tally
	board *Board
	stop  func()
}

func (c *cluster) start(name string, api bool) *member {
	c.t.Helper()
	nc, err := c.server.Dial()
	if err != nil {
		c.t.Fatal(err)
	}
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 100
	}
	m := &member{tally: NewTally()}
	if m.Queue, err = queue.Open(c.t.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()}); err != nil {
		c.t.Fatal(err)
	}
	m.OnFlow(m.tally.Entered, m.tally.Ended)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	if api {
		m.board = NewBoard(m.Queue, zerolog.Nop())
		work.Go(func() {
			m.board.Run(ctx, func(context.Context) map[string]float64 { return map[string]float64{"level": 1} })
		})
	}
	b := NewBeater(name, m.tally, func() int { return 3 }, m.Queue, zerolog.Nop())
	work.Go(func() { _ = b.Run(ctx) })
	m.stop = sync.OnceFunc(func() { cancel(); work.Wait(); nc.Close() })
	return m
}

// accept takes n messages of a lane in.
func (m *member) accept(t *testing.T, lane chat.Lane, n int) (all []chat.Ticket) {
	t.Helper()
	for range n {
		now := time.Now()
		ticket, _, err := m.Accept(t.Context(), chat.Ticket{
			ID: chat.NewTicketID(), Tenant: "demo", Session: chat.NewSessionID(), Lane: lane, Message: "hello",
			AcceptedAt: now, Deadline: now.Add(time.Minute),
		}, queue.Claim{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ticket)
	}
	return all
}

// after lets time pass until a moment after the n-th next step has ended, and been told of.
func after(n int) {
	now := time.Now()
	time.Sleep(now.Truncate(Step).Add(time.Duration(n)*Step + 5*time.Second).Sub(now))
}

// TestEveryApiNodeCountsTheWholeCluster: two api nodes and a dispatcher on one server. What
// is taken in on both and ended on the third is counted exactly on both; a node that starts
// later has the same hour; one that stops takes nothing with it but its sockets.
func TestEveryApiNodeCountsTheWholeCluster(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely})
		if err != nil {
			t.Fatal(err)
		}
		c := &cluster{t: t, server: server}
		one, two, third := c.start("one", true), c.start("two", true), c.start("third", false)
		after(1)
		tickets := append(one.accept(t, chat.Normal, 7), two.accept(t, chat.Normal, 5)...)
		two.accept(t, chat.High, 2)
		for _, ticket := range tickets[:4] {
			if _, err := third.Cancel(t.Context(), ticket.ID, chat.ReasonCustomer, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		third.tally.Ended(&chat.Ticket{Lane: chat.Normal, Status: chat.Answered, Route: chat.RouteFAQ, AcceptedAt: noon, DecidedAt: new(noon.Add(2 * time.Second))})
		third.tally.Called("a", 3*time.Second, true, 50)
		after(1)
		check := func(m *member, name string) {
			t.Helper()
			for series, want := range map[string]uint64{
				OfLane(chat.Normal, In): 12, OfLane(chat.High, In): 2, OfLane(chat.Normal, Out): 5, OfRoute(chat.RouteFAQ): 1,
				OfVendor("a", Throttled): 1, OfVendor("a", Tokens): 50,
			} {
				if got := m.board.Hour(series); got != want {
					t.Errorf("%s: %s is %d in an hour, want %d", name, series, got, want)
				}
			}
		}
		check(one, "one")
		check(two, "two")
		recent := two.board.Recent()
		if recent.Nodes != 3 || recent.Sockets != 9 || recent.Minute.Counts[OfLane(chat.Normal, In)] != 12 {
			t.Errorf("recent: %d nodes, %d sockets, %v", recent.Nodes, recent.Sockets, recent.Minute.Counts)
		}
		if wait, ok := spreadOf(recent, OfLane(chat.Normal, Wait)).Quantile(0.95); !ok || wait < 1750*time.Millisecond || wait > 2250*time.Millisecond {
			t.Errorf("the wait is %s %v, want about 2 s", wait, ok)
		}
		// A node that starts later, and the restart of one that had counted.
		third.stop()
		late := c.start("late", true)
		third = c.start("third-2", false)
		after(2)
		check(late, "late")
		one.stop()
		third.accept(t, chat.Low, 1)
		after(1)
		for name, m := range map[string]*member{"two": two, "late": late} {
			check(m, name)
			if got := m.board.Hour(OfLane(chat.Low, In)); got != 1 {
				t.Errorf("%s: a restarted process has let in %d, want 1", name, got)
			}
			if r := m.board.Recent(); r.Nodes != 3 || r.Sockets != 9 {
				t.Errorf("%s: %d nodes with %d sockets after a stop and a start, want 3 with 9", name, r.Nodes, r.Sockets)
			}
			noneNegative(t, name, m.board.History())
		}
		for _, name := range []string{"level", "sockets", "lane.normal.wait_p95_ms", "vendor.a.p95_ms", "vendor.a.throttled"} {
			if late.board.History().Series[name] == nil {
				t.Errorf("there is no chart of %s", name)
			}
		}
		if a, b := sumOf(two.board.History(), "lane.normal.in"), sumOf(late.board.History(), "lane.normal.in"); a != 12 || b != 12 {
			t.Errorf("the charts hold %v and %v, want 12", a, b)
		}
		for _, m := range []*member{two, late, third} {
			m.stop()
		}
		queuetest.Stop(server)
	})
}

func spreadOf(r Recent, name string) *Spread { s := r.Minute.Spreads[name]; return &s }

func noneNegative(t *testing.T, node string, h History) {
	t.Helper()
	for name, readings := range h.Series {
		for i, v := range readings {
			if v != nil && *v < 0 {
				t.Errorf("%s: %s is %v, %d steps ago", node, name, *v, Steps-1-i)
			}
		}
	}
}

func sumOf(h History, name string) (sum float64) {
	for _, v := range h.Series[name] {
		if v != nil {
			sum += *v
		}
	}
	return sum
}
