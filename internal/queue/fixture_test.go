package queue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
)

func TestMain(m *testing.M) { queuetest.Main(m) }

// world is a queue on a server of its own, in a bubble.
type world struct {
	*Queue
	t      *testing.T
	nc     *nats.Conn
	server *Server
	cfg    Config
	dir    string // of the server

	mu     sync.Mutex
	points []Point          // every write that was asked for
	stopAt Point            // the write that is refused, or ""
	refuse func(Point) bool // nil: no further ones
}

var errStopped = errors.New("stopped here")

func inBubble(t *testing.T, change func(*Config, *ServerConfig), f func(t *testing.T, w *world)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, change)
		defer w.close()
		f(t, w)
	})
}

// newWorld is for a test that is in a bubble already.
func newWorld(t *testing.T, change func(*Config, *ServerConfig)) *world {
	t.Helper()
	w := &world{t: t, cfg: Config{Bounds: map[chat.Lane]int{}, Log: zerolog.Nop()}}
	for _, lane := range chat.Lanes() {
		w.cfg.Bounds[lane] = 100
	}
	w.cfg.Before = w.observe
	server := ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely}
	if change != nil {
		change(&w.cfg, &server)
	}
	w.dir = server.Dir
	var err error
	if w.server, err = StartServer(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	if w.nc, err = w.server.Dial(); err != nil {
		queuetest.Stop(w.server)
		t.Fatal(err)
	}
	w.Queue = w.open()
	return w
}

func (w *world) close() {
	w.nc.Close()
	queuetest.Stop(w.server)
}

func (w *world) open() *Queue {
	w.t.Helper()
	q, err := Open(w.t.Context(), w.nc, w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func (w *world) observe(p Point, _ string) error {
	w.mu.Lock()
	w.points = append(w.points, p)
	refused, refuse := p == w.stopAt, w.refuse
	w.mu.Unlock()
	if refused || refuse != nil && refuse(p) {
		return errStopped
	}
	return nil
}

// stopIf refuses the writes that refuse says; nil: no more.
func (w *world) stopIf(refuse func(Point) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = refuse
}

func (w *world) stop(p Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopAt = p
}

// wrote returns the writes since the last call.
func (w *world) wrote() []Point {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.points
	w.points = nil
	return all
}

func message(session, text string) chat.Ticket {
	now := time.Now()
	return chat.Ticket{
		ID: chat.NewTicketID(), Tenant: "demo", Session: session, Lane: chat.Normal, Message: text,
		Language: chat.English, Intent: "other", AcceptedAt: now, Deadline: now.Add(10 * time.Second),
	}
}

func (w *world) accept(t chat.Ticket) chat.Ticket {
	w.t.Helper()
	got, _, err := w.Accept(w.t.Context(), t, Claim{})
	if err != nil {
		w.t.Fatalf("accept: %v", err)
	}
	return got
}

// try pulls for a moment and returns the jobs that came.
func (w *world) try(lane chat.Lane, n int) []*Job {
	w.t.Helper()
	var jobs []*Job
	if err := w.Pull(w.t.Context(), lane, n, 50*time.Millisecond, func(j *Job) { jobs = append(jobs, j) }); err != nil {
		w.t.Fatalf("pull: %v", err)
	}
	return jobs
}

// pull returns the job that the lane must have.
func (w *world) pull(lane chat.Lane) *Job {
	w.t.Helper()
	jobs := w.try(lane, 1)
	if len(jobs) != 1 {
		w.t.Fatalf("lane %s gives %d jobs, want one", lane, len(jobs))
	}
	return jobs[0]
}

// run admits a job and makes its ticket run.
func (w *world) run(j *Job) Stored {
	w.t.Helper()
	s, err := w.Admit(w.t.Context(), j)
	if err == nil {
		s, err = w.Take(w.t.Context(), s, time.Now())
	}
	if err != nil {
		w.t.Fatalf("run %s: %v", j.Ticket.ID, err)
	}
	return s
}

// answered is a ticket with its end, not written yet.
func answered(s Stored, text string) Stored {
	s.Ticket.Answer(chat.Answer{Reply: chat.Reply{Text: text, HTML: text, Locale: "en"}, Route: chat.RouteAgent}, time.Now())
	return s
}

// finish answers the one job of a lane.
func (w *world) finish(lane chat.Lane, text string) chat.Ticket {
	w.t.Helper()
	j := w.pull(lane)
	done, err := w.End(w.t.Context(), j, answered(w.run(j), text))
	if err != nil {
		w.t.Fatalf("end: %v", err)
	}
	return done.Ticket
}

func (w *world) ticket(id string) Stored {
	w.t.Helper()
	s, err := w.Ticket(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) gone(id string) {
	w.t.Helper()
	if s, err := w.Ticket(w.t.Context(), id); !errors.Is(err, ErrNotFound) {
		w.t.Errorf("ticket %s is there as %s (%v), want none", id, s.Status, err)
	}
}

func (w *world) depth(lane chat.Lane, want int) {
	w.t.Helper()
	if got, err := w.Depth(w.t.Context(), lane); err != nil || got != want {
		w.t.Errorf("depth of %s = %d (%v), want %d", lane, got, err, want)
	}
}

// seqs returns the session's events after a seq, as seq numbers.
func (w *world) seqs(session string, after uint64, limit int) (seqs []uint64, head uint64, ok bool) {
	w.t.Helper()
	events, head, ok, err := w.Events(w.t.Context(), "demo", session, after, limit)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range events {
		seqs = append(seqs, e.Seq)
	}
	return seqs, head, ok
}

func (w *world) wantSeqs(session string, after uint64, want ...uint64) {
	w.t.Helper()
	if got, _, _ := w.seqs(session, after, 1000); !slices.Equal(got, want) {
		w.t.Errorf("session %s holds %v after %d, want %v", session, got, after, want)
	}
}

func upTo(n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	return all
}

// asked sends a raw request to the JetStream API.
func (w *world) asked(subject, body string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
	defer cancel()
	msg, err := w.nc.RequestWithContext(ctx, subject, []byte(body))
	if err != nil {
		w.t.Fatalf("%s: %v", subject, err)
	}
	return string(msg.Data)
}
