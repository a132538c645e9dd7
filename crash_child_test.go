package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// crashEnv holds the crashPlan of a test binary that is to be a process of the line
// instead of running tests.
const crashEnv = "SLUICE_TEST_CRASH_PLAN"

// crashPlan is what a child process does on a data directory.
type crashPlan struct {
	Dir      string
	Vendors  map[string]string // name → base URL
	Key      string            // hand in a message under this key; empty: none
	Cancel   bool              // and cancel its ticket while a vendor works on it
	Requeue  bool              // or requeue the one dead letter
	Deliver  int               // max_deliver; 0: the default
	Promise  bool              // the message is overdue at once, and may be answered later
	CallOff  bool              // and what its answer promises is called off
	Of       string            // the ticket whose write it is; empty: any
	Callback string            // where the end of the message's ticket is told; empty: nowhere
	Nth      int               // die at the nth write of DieAt; 0: the first
	Urgent   bool              // the message is urgent, and waits for a second after it was handed to people
	DieAt    queue.Point       // end by kill -9 before this write; empty: live until the ticket has ended
}

// crashReport is what a child that lived found at the end.
type crashReport struct {
	Ticket   chat.Ticket
	Events   []chat.Event
	Stories  int
	Letters  int
	Handoffs int
	Depth    int // of all lanes
	Owed     *queue.Owed
	Hooks    map[chat.HookState]int
	Secret   string // of webhooks
	Notices  []chat.Notice
}

// settled reports whether nothing is owed any more and the session was told so.
func (r *crashReport) settled() bool {
	if r.Owed == nil {
		return true
	}
	told := func(e chat.Event) bool { return e.Promise != nil && e.Promise.Status == r.Owed.Status }
	return r.Owed.Status != chat.Promised && slices.ContainsFunc(r.Events, told)
}

const (
	crashSession = "crash"
	crashLimit   = 20 * time.Second
)

// crashChild does the plan of the environment, if there is one, and returns the exit code.
func crashChild() (code int, child bool) {
	raw, child := os.LookupEnv(crashEnv)
	if !child {
		return 0, false
	}
	var plan crashPlan
	err := json.Unmarshal([]byte(raw), &plan)
	if err == nil {
		err = plan.play()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// before ends the process at its point, as nothing else can: no deferred call runs, and
// no goroutine makes another write.
func (p crashPlan) before(at queue.Point, ticket string) error {
	if at == p.DieAt && (p.Of == "" || p.Of == ticket) && int(crashWrites.Add(1)) >= p.Nth {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return nil
}

// crashWrites counts the writes of this process at its plan's DieAt.
var crashWrites atomic.Int64

// play runs the same line as serve does.
func (p crashPlan) play() error {
	limit := crashLimit
	if p.Callback != "" {
		limit *= 2 // a webhook's try that died with its process counts as lost after 20 s
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r, err := rules.Parse("crash.yaml", []byte(smallRules))
	if err != nil {
		return err
	}
	if p.Deliver > 0 {
		r.MaxDeliver = p.Deliver
	}
	if p.Promise {
		deferred := r.Lanes[chat.Deferred]
		deferred.MaxWait = crashOwed
		r.Lanes[chat.Deferred] = deferred
	}
	r.Webhooks.AllowPrivate = true
	if p.Urgent {
		r.Valve.UrgentWait = time.Second
	}
	server, err := queue.StartServer(ctx, queue.ServerConfig{Dir: p.Dir})
	if err != nil {
		return err
	}
	defer server.Stop()
	nc, err := server.Dial()
	if err != nil {
		return err
	}
	defer nc.Close()
	q, err := queue.Open(ctx, nc, queue.Config{Bounds: bounds(r), Fresh: true, Before: p.before, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	f, err := newFleet(r, func(v rules.Vendor, _ int) (string, string) { return p.Vendors[v.Name], "" }, nil)
	if err != nil {
		return err
	}
	defer f.close()
	in, err := unchanging(r)
	if err != nil {
		return err
	}
	l, err := newLine(q, in, f, true, allOpen, zerolog.Nop())
	if err != nil {
		return err
	}
	stages := pipeline{stages: l.stages()}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- stages.run(running, func() {}) }()
	err = p.act(ctx, q)
	stop()
	return errors.Join(err, <-ended)
}

// act hands the message in, and stays until the process dies or all is done.
func (p crashPlan) act(ctx context.Context, q *queue.Queue) error {
	var t chat.Ticket
	if p.Key != "" {
		var err error
		t, _, err = q.Accept(ctx, p.message(time.Now()), queue.Claim{Key: p.Key, Body: "the same"})
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
	}
	if p.Requeue {
		var err error
		if t, err = requeue(ctx, q); err != nil {
			return err
		}
	}
	if p.Cancel {
		if err := awaitRunning(ctx, q, t.ID); err != nil {
			return err
		}
		if _, err := q.Cancel(ctx, t.ID, chat.ReasonCustomer, time.Now()); err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
	}
	if p.CallOff {
		if err := callOff(ctx, q, t.ID); err != nil {
			return err
		}
	}
	if p.DieAt != "" {
		<-ctx.Done()
		return fmt.Errorf("still alive: nothing came to %s", p.DieAt)
	}
	return p.report(ctx, q, t.ID)
}

// message is what the customer sends.
func (p crashPlan) message(now time.Time) chat.Ticket {
	t := chat.Ticket{
		ID: chat.NewTicketID(), Tenant: "demo", Session: crashSession, Lane: chat.Normal, Message: "Where is my order 1?",
		Language: chat.English, Intent: "other", Urgent: p.Urgent, CallbackURL: p.Callback, AcceptedAt: now, Deadline: now.Add(crashLimit),
	}
	if p.Promise {
		t.ID, t.Intent, t.Phone, t.Deadline = crashParent, "order_track", "+8613800138000", now
	}
	return t
}

// requeue requeues the one dead letter, if need be as the repeat of a call that was cut short.
func requeue(ctx context.Context, q *queue.Queue) (t chat.Ticket, err error) {
	letters, err := q.DeadLetters(ctx, 0, 10)
	if err != nil {
		return t, err
	}
	if len(letters) != 1 {
		return t, fmt.Errorf("%d dead letters, want one", len(letters))
	}
	t, _, err = q.RequeueDead(ctx, letters[0].ID, time.Now())
	return t, err
}

func awaitRunning(ctx context.Context, q *queue.Queue, id string) error {
	return eachTick(ctx, func() (bool, error) {
		s, err := q.Ticket(ctx, id)
		return s.Status == chat.Running, err
	})
}

// report waits until the ticket has ended and nothing of it is left to do, and prints
// what there is then.
func (p crashPlan) report(ctx context.Context, q *queue.Queue, id string) error {
	var r crashReport
	err := eachTick(ctx, func() (done bool, err error) {
		r, err = look(ctx, q, id)
		return r.Ticket.Status.Ended() && r.Depth == 0 && r.settled() && r.Hooks[chat.HookWaiting] == 0, err
	})
	if err != nil {
		return fmt.Errorf("ticket %s is %s, the lanes hold %d messages: %w", id, r.Ticket.Status, r.Depth, err)
	}
	records, err := q.Records(ctx, queue.Stories, 10, 2*time.Second)
	if err != nil {
		return err
	}
	for _, record := range records {
		r.Stories++
		if err := record.Done(); err != nil {
			return err
		}
	}
	handoffs, err := q.Handoffs(ctx, 0, 10)
	if err != nil {
		return err
	}
	r.Handoffs = len(handoffs)
	if r.Letters, err = q.DeadCount(ctx); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// eachTick asks done every 20 ms until it is true, it fails or ctx ends.
func eachTick(ctx context.Context, done func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if is, err := done(); is || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func look(ctx context.Context, q *queue.Queue, id string) (r crashReport, err error) {
	s, err := q.Ticket(ctx, id)
	if err != nil {
		return r, err
	}
	r.Ticket = s.Ticket
	for _, lane := range chat.Lanes() {
		depth, err := q.Depth(ctx, lane)
		if err != nil {
			return r, err
		}
		r.Depth += depth
	}
	if owed, err := q.Owed(ctx, chat.FollowUpID(id)); err == nil {
		r.Owed = &owed
	} else if !errors.Is(err, queue.ErrNotFound) {
		return r, err
	}
	if _, r.Hooks, err = q.Hooks(ctx, chat.HookWaiting, 1); err != nil {
		return r, err
	}
	if s.CallbackURL != "" {
		secrets, err := q.HookSecrets(ctx, "demo")
		if err != nil {
			return r, err
		}
		r.Secret = secrets.Current
	}
	if r.Events, _, _, err = q.Events(ctx, "demo", crashSession, 0, 100); err != nil {
		return r, err
	}
	// The last, because a notice is in the outbox before its promise and its session say so.
	r.Notices, err = q.Notices(ctx, 0, 10)
	return r, err
}
