package queue

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

// process is one more process on a world: its own connection, queue and lanes.
type process struct {
	*Queue
	*Lanes
	w    *world
	door *door
	stop func() // in good order
}

// door is the way of one process to the server; it can be shut.
type door struct {
	server *Server

	mu    sync.Mutex
	shut  bool
	conns []net.Conn
}

// InProcessConn lets a connection in while the door is open.
func (d *door) InProcessConn() (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		return nil, errors.New("the door is shut")
	}
	c, err := d.server.ns.InProcessConn()
	d.conns = append(d.conns, c)
	return c, err
}

// set opens or shuts the door; who is inside when it is shut is cut off.
func (d *door) set(open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = !open
	if open {
		return
	}
	for _, c := range d.conns {
		_ = c.Close()
	}
	d.conns = nil
}

// process starts a process that takes messages in, and waits until it knows the lanes.
func (w *world) process(node string) *process {
	w.t.Helper()
	p := &process{w: w, door: &door{server: w.server}}
	nc, err := nats.Connect("", nats.InProcessServer(p.door), nats.ReconnectWait(100*time.Millisecond), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := w.cfg
	cfg.Before = nil
	if p.Queue, err = Open(w.t.Context(), nc, cfg); err != nil {
		w.t.Fatal(err)
	}
	p.Lanes, err = NewLanes(p.Queue, LanesConfig{Node: node, Intake: true, Answer: template, Log: zerolog.Nop()})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := p.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	p.stop = sync.OnceFunc(func() { cancel(); <-ended; nc.Close() })
	w.t.Cleanup(p.stop)
	<-p.Lanes.Ready()
	return p
}

func template(t *chat.Ticket, reason chat.Reason) chat.Answer {
	return chat.Answer{Reply: chat.Reply{Text: "later", HTML: "later", Locale: t.Language}, Route: chat.RouteTemplate, Reason: reason}
}

func (w *world) order(lane chat.Lane, s chat.LaneState) LaneOrder {
	w.t.Helper()
	now, err := w.LaneOrder(w.t.Context(), lane)
	if err == nil {
		now, err = w.SetLaneOrder(w.t.Context(), lane, LaneOrder{State: s, Actor: "admin", Reason: "test", At: time.Now().UTC(), Rev: now.Rev})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return now
}

func (w *world) standing(lane chat.Lane) LaneStanding {
	w.t.Helper()
	s, err := w.Standing(w.t.Context(), lane)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) wantState(lane chat.Lane, want chat.LaneState, unconfirmed ...string) {
	w.t.Helper()
	if s := w.standing(lane); s.State != want || !slices.Equal(s.Unconfirmed, unconfirmed) {
		w.t.Errorf("lane %s is %s, unconfirmed %v, depth %d; want %s, %v", lane, s.State, s.Unconfirmed, s.Depth, want, unconfirmed)
	}
}

func (p *process) wantOpen(lane chat.Lane, want bool) {
	p.w.t.Helper()
	leave, open := p.Enter(lane)
	if open != want {
		p.w.t.Errorf("node %s: lane %s open: %v, want %v", p.cfgNode(), lane, open, want)
	}
	if open {
		leave()
	}
}

func (p *process) cfgNode() string { return p.Lanes.cfg.Node }

func TestAnOrderIsObeyedByEveryProcessAtOnce(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		one, two := w.process("one"), w.process("two")
		if s := one.State(chat.Normal); s != chat.LaneOpen {
			t.Errorf("without an order the lane is %s", s)
		}
		w.order(chat.Normal, chat.LanePaused)
		time.Sleep(50 * time.Millisecond)
		for _, p := range []*process{one, two} {
			if s := p.State(chat.Normal); s != chat.LanePaused {
				t.Errorf("node %s knows %s, want paused", p.cfgNode(), s)
			}
			p.wantOpen(chat.Normal, true) // a pause takes messages in
		}
		w.order(chat.Normal, chat.LaneDraining)
		time.Sleep(50 * time.Millisecond)
		for _, p := range []*process{one, two} {
			p.wantOpen(chat.Normal, false)
			p.wantOpen(chat.High, true)
		}
	})
}

func TestAnOrderOfAnotherRevisionIsRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		seen := w.order(chat.Low, chat.LanePaused)
		w.order(chat.Low, chat.LaneOpen)
		if _, err := w.SetLaneOrder(t.Context(), chat.Low, LaneOrder{State: chat.LaneDraining, Rev: seen.Rev}); !errors.Is(err, ErrLost) {
			t.Errorf("err = %v, want ErrLost", err)
		}
		if _, err := w.SetLaneOrder(t.Context(), chat.Low, LaneOrder{State: chat.LaneDraining}); !errors.Is(err, ErrLost) {
			t.Errorf("as the first one: %v, want ErrLost", err)
		}
	})
}

func TestAProcessThatWasCutOffObeysWithinASecondOfItsReturn(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		p := w.process("one")
		p.door.set(false)
		time.Sleep(3 * time.Second)
		w.order(chat.Normal, chat.LanePaused)
		time.Sleep(30 * time.Second)
		if s := p.State(chat.Normal); s != chat.LaneOpen {
			t.Errorf("cut off it knows %s", s)
		}
		p.door.set(true)
		time.Sleep(time.Second)
		if s := p.State(chat.Normal); s != chat.LanePaused {
			t.Errorf("a second after its return it knows %s, want paused", s)
		}
	})
}

func TestHooksHearEachChangeInOrder(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.order(chat.Low, chat.LanePaused)
		l, err := NewLanes(w.Queue, LanesConfig{Node: "n", Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		var heard []string
		var mu sync.Mutex
		l.OnChange(func(lane chat.Lane, s chat.LaneState) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, string(lane)+" "+string(s))
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Run(ctx) }()
		<-l.Ready()
		for _, s := range []chat.LaneState{chat.LaneOpen, chat.LaneDraining, chat.LaneOpen} {
			w.order(chat.Low, s)
			time.Sleep(100 * time.Millisecond)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := []string{"low paused", "low open", "low draining", "low open"}
		if !slices.Equal(heard, want) {
			t.Errorf("heard %v, want %v", heard, want)
		}
	})
}

func TestALaneIsDrainedOnceEveryNodeHasConfirmedAndNothingIsLeft(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		one, two := w.process("one"), w.process("two")
		waiting := w.accept(message("s1", "before"))
		leave, open := two.Enter(chat.Normal)
		if !open {
			t.Fatal("an open lane is shut")
		}
		w.order(chat.Normal, chat.LaneDraining)
		time.Sleep(2 * time.Second)
		w.wantState(chat.Normal, chat.LaneDraining, "two") // its intake is under way
		under := message("s2", "under way")
		if _, _, err := two.Accept(t.Context(), under, Claim{}); err != nil {
			t.Fatal(err)
		}
		leave()
		time.Sleep(2 * time.Second)
		w.wantState(chat.Normal, chat.LaneDraining)
		for range 2 {
			w.finish(chat.Normal, "done")
		}
		time.Sleep(4 * time.Second)
		w.wantState(chat.Normal, chat.LaneDrained)
		if w.ticket(waiting.ID).Status != chat.Answered || w.ticket(under.ID).Status != chat.Answered {
			t.Error("a ticket of the lane is open")
		}
		one.wantOpen(chat.Normal, false)

		// A node that was silent delivers late: the job is there, and the lane drains on.
		w.accept(message("s3", "late"))
		w.wantState(chat.Normal, chat.LaneDraining)
		w.finish(chat.Normal, "late answer")
		w.wantState(chat.Normal, chat.LaneDraining) // nobody has looked for open tickets again
		time.Sleep(4 * time.Second)
		w.wantState(chat.Normal, chat.LaneDrained)

		w.order(chat.Normal, chat.LaneOpen)
		time.Sleep(100 * time.Millisecond)
		w.wantState(chat.Normal, chat.LaneOpen)
		one.wantOpen(chat.Normal, true)
		w.order(chat.Normal, chat.LaneDraining)
		if s := w.standing(chat.Normal).State; s != chat.LaneDraining {
			t.Errorf("the lane is %s: an earlier drain proves nothing", s)
		}
	})
}

func TestADrainWaitsForATicketWhoseLaneMessageIsLost(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.process("one")
		lost := w.accept(message("s1", "lost"))
		if _, err := erase(t.Context(), w.Queue.lanes[chat.Normal], lost.LaneSeq); err != nil {
			t.Fatal(err)
		}
		w.order(chat.Normal, chat.LaneDraining)
		time.Sleep(10 * time.Second)
		w.wantState(chat.Normal, chat.LaneDraining)
		time.Sleep(10 * time.Second) // old enough to be mended
		w.depth(chat.Normal, 1)
		w.finish(chat.Normal, "found")
		time.Sleep(4 * time.Second)
		w.wantState(chat.Normal, chat.LaneDrained)
	})
}

func TestANodeThatDiedIsWaitedForOnlyWhileItCountsAsLive(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.process("one")
		two := w.process("two")
		two.door.set(false)
		time.Sleep(time.Second)
		w.order(chat.Normal, chat.LaneDraining)
		time.Sleep(5 * time.Second)
		w.wantState(chat.Normal, chat.LaneDraining, "two")
		time.Sleep(20 * time.Second)
		w.wantState(chat.Normal, chat.LaneDrained)
		two.door.set(true)
		time.Sleep(2 * time.Second)
		two.wantOpen(chat.Normal, false)
		w.wantState(chat.Normal, chat.LaneDrained)
	})
}

func TestANodeThatStopsInGoodOrderIsNotWaitedFor(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.process("one")
		two := w.process("two")
		if nodes, err := w.Intakes(t.Context()); err != nil || !slices.Equal(nodes, []string{"one", "two"}) {
			t.Errorf("nodes %v, err %v", nodes, err)
		}
		two.stop()
		if nodes, err := w.Intakes(t.Context()); err != nil || !slices.Equal(nodes, []string{"one"}) {
			t.Errorf("after the stop nodes %v, err %v", nodes, err)
		}
		w.order(chat.High, chat.LaneDraining)
		time.Sleep(4 * time.Second)
		w.wantState(chat.High, chat.LaneDrained)
	})
}

func TestANodeThatStartsIntoADrainNeverOpens(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		l, err := NewLanes(w.Queue, LanesConfig{Node: "n", Intake: true, Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		if _, open := l.Enter(chat.Batch); open {
			t.Error("a lane is open before its state is known")
		}
		w.order(chat.Batch, chat.LaneDraining)
		w.process("late").wantOpen(chat.Batch, false)
	})
}

func TestAFreshProcessForgetsTheNodesOfTheOneBefore(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if err := w.confirmOrders(t.Context(), "dead", nil); err != nil {
			t.Fatal(err)
		}
		w.cfg.Fresh = true
		w.process("new")
		if nodes, err := w.Intakes(t.Context()); err != nil || !slices.Equal(nodes, []string{"new"}) {
			t.Errorf("nodes %v, err %v", nodes, err)
		}
	})
}
