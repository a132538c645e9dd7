package bell

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/alert"
	"sluice/internal/chat"
	"sluice/internal/hook"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// tower is an engine in a bubble, a receiver, and any number of processes with a bell.
type tower struct {
	t     *testing.T
	queue *queue.Queue
	door  *sim.PipeListener
	begun time.Time

	mu     sync.Mutex
	level  int
	status int      // that the receiver answers
	told   []string // what it took: when, what fires, what ended
	tries  int
}

func inTower(t *testing.T, f func(t *testing.T, w *tower)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely})
		if err != nil {
			t.Fatal(err)
		}
		defer queuetest.Stop(server)
		nc, err := server.Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		bounds := map[chat.Lane]int{}
		for _, lane := range chat.Lanes() {
			bounds[lane] = 10
		}
		w := &tower{t: t, door: sim.NewPipeListener(), status: http.StatusOK}
		if w.queue, err = queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()}); err != nil {
			t.Fatal(err)
		}
		receiver := &http.Server{Handler: w}
		var serving sync.WaitGroup
		serving.Go(func() { _ = receiver.Serve(w.door) })
		defer serving.Wait()
		defer func() { _ = receiver.Close(); _ = w.door.Close() }()
		w.begun = time.Now()
		f(t, w)
	})
}

func (w *tower) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		w.t.Error(err)
	}
	var parts []string
	for _, a := range e.Data.Firing {
		parts = append(parts, "+"+a.Key)
	}
	for _, a := range e.Data.Ended {
		parts = append(parts, "-"+a.Key)
	}
	if e.Data.Test {
		parts = append(parts, "test")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries++
	if w.status == http.StatusOK {
		w.told = append(w.told, strings.Join(parts, " "))
	}
	rw.WriteHeader(w.status)
}

func (w *tower) set(level, status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.level, w.status = level, status
}

func (w *tower) bell(node string, refused int) *Bell {
	w.t.Helper()
	s, err := hook.NewSender(hook.Config{
		Private: func() bool { return false },
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return w.door.Dial(ctx, network, address)
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := New(w.queue, Config{
		Node: node, Here: alert.Node{Host: "host", Roles: "api"}, Judges: true,
		Rules: func() alert.Rules {
			return alert.Rules{Busy: alert.Share{Above: 1}, Spent: alert.Share{Above: 1}, Refusals: 100, Level: 2, Wait: 1, Lag: time.Minute, Lasts: 10 * time.Minute}
		},
		Repeat: func() time.Duration { return 4 * time.Hour },
		Hooks: func() []Hook {
			return []Hook{{ID: "generic-1", Kind: Generic, URL: "http://ops.example/", Secret: secret, Lang: alert.English}}
		},
		Read: func(context.Context, alert.State) alert.Reading {
			w.mu.Lock()
			defer w.mu.Unlock()
			level := w.level
			return alert.Reading{Level: &level}
		},
		Refused: func(time.Time) int { return refused }, Sender: s, Log: zerolog.Nop(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// run runs a bell until stop, which waits for its goodbye.
func (w *tower) run(node string, refused int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	b := w.bell(node, refused)
	running.Go(func() {
		if err := b.Run(ctx); err != nil {
			w.t.Error(err)
		}
	})
	return func() { cancel(); running.Wait() }
}

func (w *tower) want(told ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.told, told) {
		w.t.Errorf("after %s was told\n%s\nwant\n%s", time.Since(w.begun), strings.Join(w.told, "\n"), strings.Join(told, "\n"))
	}
}

// TestTheDutyChangesHands among three processes that come and go: one message for what
// begins, one for its end, none about those who said goodbye.
func TestTheDutyChangesHands(t *testing.T) {
	inTower(t, func(t *testing.T, w *tower) {
		one, two := w.run("n1", 60), w.run("n2", 30)
		time.Sleep(10 * time.Second)
		w.set(3, http.StatusOK)
		time.Sleep(12 * time.Second)
		w.want("+level_high")
		one()
		three := w.run("n3", 20)
		time.Sleep(time.Minute)
		two()
		time.Sleep(time.Hour)
		w.want("+level_high")
		w.set(0, http.StatusOK)
		time.Sleep(80 * time.Second)
		w.want("+level_high", "-level_high")
		three()
		s, err := w.bell("n4", 0).State(t.Context())
		if err != nil || len(s.Nodes) != 0 || len(s.Firing) != 0 || len(s.Recent) != 1 || len(s.Sends) != 0 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// TestWhatAllRefuseIsCountedTogether, and a process that is killed is missed.
func TestWhatAllRefuseIsCountedTogether(t *testing.T) {
	inTower(t, func(t *testing.T, w *tower) {
		one := w.run("n1", 60)
		if err := w.queue.BeHere(t.Context(), "n2xxxxxxxx", []byte(`{"host":"gone","roles":"api","refused":41}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Second) // n2 never says another word
		w.want("+refusals", "+node_lost:gone/n2xxxx")
		time.Sleep(11 * time.Minute)
		w.want("+refusals", "+node_lost:gone/n2xxxx", "-refusals", "-node_lost:gone/n2xxxx")
		one()
	})
}

// TestWhatNobodyTookWaits for a receiver that is away, over the death of the process that
// tried, and comes once and in order.
func TestWhatNobodyTookWaits(t *testing.T) {
	inTower(t, func(t *testing.T, w *tower) {
		w.set(2, http.StatusServiceUnavailable)
		one := w.run("n1", 0)
		time.Sleep(time.Minute)
		w.set(0, http.StatusServiceUnavailable)
		time.Sleep(2 * time.Minute)
		b := w.bell("n9", 0)
		if n, err := b.Test(t.Context()); n != 1 || err != nil {
			t.Errorf("%d webhooks, %v", n, err)
		}
		one()
		// A try that began and of which nobody told the end: its process was killed in it.
		err := b.update(t.Context(), func(s alert.State) (alert.State, bool) {
			s.Sends[0].NextAt = time.Now()
			s, _, mine := s.Begin(s.Sends[0].ID, time.Now())
			return s, mine
		})
		if err != nil {
			t.Fatal(err)
		}
		w.set(0, http.StatusOK)
		two := w.run("n2", 0)
		time.Sleep(29 * time.Second)
		w.want()
		time.Sleep(10 * time.Second)
		w.want("+level_high", "-level_high", "test")
		two()
		s, err := b.State(t.Context())
		if err != nil || s.Hooks["generic-1"].Fault != "" || len(s.Sends) != 0 {
			t.Errorf("%+v, %v", s, err)
		}
		if w.tries < 6 {
			t.Errorf("%d tries", w.tries)
		}
	})
}
