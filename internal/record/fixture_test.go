package record

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/ledger"
	"sluice/internal/ledger/ledgertest"
	"sluice/internal/queue"
)

func TestMain(m *testing.M) { ledgertest.Main(m) }

// world is a queue with a recorder that writes into whatever book holds.
type world struct {
	t    *testing.T
	nc   *nats.Conn
	q    *queue.Queue
	book atomic.Pointer[ledger.Ledger]
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	w := &world{t: t}
	if w.nc, err = server.Dial(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.nc.Close)
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 1000
	}
	if w.q, err = queue.Open(t.Context(), w.nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	return w
}

// start runs the recorder until stop or the test's end.
func (w *world) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	r := New(w.q, w.book.Load, func() time.Duration { return 90 * 24 * time.Hour }, zerolog.Nop())
	go func() { ended <- r.Run(ctx); close(ended) }()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("run: %v", err)
		}
	}
	w.t.Cleanup(stop)
	return stop
}

// talk accepts a message and answers or cancels it.
func (w *world) talk(session string, n int) chat.Ticket {
	w.t.Helper()
	ctx, now := w.t.Context(), time.Now()
	asked, _, err := w.q.Accept(ctx, chat.Ticket{
		ID: chat.NewTicketID(), Tenant: "demo", Session: session, Lane: chat.Normal, Message: fmt.Sprint("Question ", n, " 订单\u2028"),
		Language: chat.English, Intent: "other", AcceptedAt: now, Deadline: now.Add(time.Minute),
	}, queue.Claim{})
	if err != nil {
		w.t.Fatal(err)
	}
	if n%3 == 0 {
		done, err := w.q.Cancel(ctx, asked.ID, chat.ReasonCustomer, now)
		if err != nil {
			w.t.Fatal(err)
		}
		return done
	}
	var job *queue.Job
	if err := w.q.Pull(ctx, chat.Normal, 1, 10*time.Second, func(j *queue.Job) { job = j }); err != nil || job == nil {
		w.t.Fatalf("pull: %v", err)
	}
	s, err := w.q.Admit(ctx, job)
	if err == nil {
		s, err = w.q.Take(ctx, s, time.Now())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	s.Answer(chat.Answer{
		Reply: chat.Reply{Text: fmt.Sprint("Answer ", n), Locale: chat.English, Sources: []chat.Source{}},
		Route: chat.RouteAgent, Vendor: "a", Model: "m", Usage: &chat.Usage{PromptTokens: 10, CompletionTokens: n},
	}, time.Now())
	done, err := w.q.End(ctx, job, s)
	if err != nil {
		w.t.Fatal(err)
	}
	return done.Ticket
}

// eventually asks until ok says yes.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			w.t.Fatalf("it never comes that %s", what)
		}
	}
}

// passes lets real time pass.
func (w *world) passes(d time.Duration) {
	began := time.Now()
	w.eventually(d.String()+" have passed", func() bool { return time.Since(began) >= d })
}

// unrecorded returns how many messages the recorder has not acknowledged.
func (w *world) unrecorded() int {
	w.t.Helper()
	n, err := w.q.Unrecorded(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) caughtUp() {
	w.t.Helper()
	w.eventually("all is recorded", func() bool { return w.unrecorded() == 0 })
}

func (w *world) stream() jetstream.JetStream {
	w.t.Helper()
	js, err := jetstream.New(w.nc)
	if err != nil {
		w.t.Fatal(err)
	}
	return js
}

// tell puts bytes into a log behind the queue's back.
func (w *world) tell(subject, body string) {
	w.t.Helper()
	if _, err := w.stream().Publish(w.t.Context(), subject, []byte(body)); err != nil {
		w.t.Fatal(err)
	}
}
