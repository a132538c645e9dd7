package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/api"
	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
	"sluice/internal/sim"
	"sluice/worker"
)

// Rules of the tests, for either carrier.
const (
	twilioRules = smallRules + `
sms: {provider: twilio, account_env: ACCOUNT, token_env: TOKEN, from: "+15005550006", url: "http://carrier.example/twilio"}
`
	aliyunRules = smallRules + `
sms:
  {provider: aliyun, account_env: ACCOUNT, token_env: TOKEN, receipt_env: SECRET, url: "http://carrier.example/aliyun",
   signatures: {zh: 流水, en: Sluice}, templates: {zh: SMS_1, en: SMS_2}}
`
)

var textEnv = map[string]string{"ACCOUNT": "AC1", "TOKEN": "token-of-the-account", "SECRET": "secret-in-the-address"}

// textWorld is what outlives the senders: the engine, the carrier, and our own door for
// its receipts. It lives inside a synctest bubble.
type textWorld struct {
	t       *testing.T
	rules   *rules.Rules
	broker  *queue.Server
	queue   *queue.Queue // the tests' own
	carrier *sim.Carrier
	doors   map[string]*sim.PipeListener
	closers []func()
}

const ourAddress = "http://chat.example"

func inTextWorld(t *testing.T, doc string, f func(w *textWorld)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		w := newTextWorld(t, doc)
		f(w)
		w.close()
	})
}

func newTextWorld(t *testing.T, doc string) *textWorld {
	t.Helper()
	w := &textWorld{t: t, rules: testRules(t, doc), doors: map[string]*sim.PipeListener{
		"carrier.example:80": sim.NewPipeListener(), "chat.example:80": sim.NewPipeListener(),
	}}
	var err error
	if w.broker, err = queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely}); err != nil {
		t.Fatal(err)
	}
	w.later(func() { queuetest.Stop(w.broker) })
	var nc *nats.Conn
	nc, w.queue = w.dial(nil)
	w.later(nc.Close)
	w.carrier = sim.NewCarrier(sim.TextConfig{
		Account: textEnv["ACCOUNT"], Token: textEnv["TOKEN"], Client: w.doors["chat.example:80"].Client(),
		Reports: ourAddress + "/v1/sms/aliyun/status?token=" + textEnv["SECRET"],
	})
	w.later(w.carrier.Close)
	in := w.in()
	a, err := api.New(api.Deps{
		Queue: w.queue, Rules: in.rules, Classify: in.classify, Line: nobodyWaits{}, Log: zerolog.Nop(),
		Texts: func() api.TextKeys { return in.carriers.keys(in.rules()) },
	}, api.Config{PublicURL: ourAddress})
	if err != nil {
		t.Fatal(err)
	}
	w.serve("carrier.example:80", w.carrier.Handler())
	w.serve("chat.example:80", a.Handler())
	return w
}

// nobodyWaits is a line without anybody.
type nobodyWaits struct{}

func (nobodyWaits) Standing(string) (int, time.Duration, bool) { return 0, 0, false }
func (nobodyWaits) Behind(chat.Lane) (int, time.Duration)      { return 1, 0 }

func (w *textWorld) later(f func()) { w.closers = append(w.closers, f) }

func (w *textWorld) close() {
	for _, f := range slices.Backward(w.closers) {
		f()
	}
}

func (w *textWorld) serve(host string, h http.Handler) {
	server, ended := &http.Server{Handler: h}, make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(w.doors[host]) }()
	w.later(func() { _ = server.Close(); <-ended })
}

func (w *textWorld) dial(before func(queue.Point, string) error) (*nats.Conn, *queue.Queue) {
	w.t.Helper()
	nc, err := w.broker.Dial()
	if err != nil {
		w.t.Fatal(err)
	}
	q, err := queue.Open(w.t.Context(), nc, queue.Config{Bounds: bounds(w.rules), Fresh: true, Before: before, Log: zerolog.Nop()})
	if err != nil {
		w.t.Fatal(err)
	}
	return nc, q
}

// in is the rules with the carrier that they name.
func (w *textWorld) in() *live {
	w.t.Helper()
	in, err := unchanging(w.rules)
	if err != nil {
		w.t.Fatal(err)
	}
	transport := &http.Transport{DialContext: w.doors["carrier.example:80"].Dial}
	w.later(transport.CloseIdleConnections)
	in.queue, in.log = w.queue, zerolog.Nop()
	in.carriers = carriers{getenv: func(name string) string { return textEnv[name] }, publicURL: ourAddress, transport: transport, log: zerolog.Nop()}
	return in
}

// texter is one process that sends.
type texter struct {
	w      *textWorld
	nc     *nats.Conn
	cancel context.CancelFunc
	ended  chan struct{}

	mu    sync.Mutex
	dead  bool
	at    queue.Point   // where something happens to it; empty: nowhere
	pause time.Duration // 0: it dies
}

func (w *textWorld) texter(name string) *texter {
	w.t.Helper()
	x := &texter{w: w, ended: make(chan struct{})}
	var q *queue.Queue
	x.nc, q = w.dial(x.before)
	in := w.in()
	sender := worker.NewSender(queue.NewOutbox(q), func() worker.Texting { return in.carriers.texting(in.rules()) }, name, zerolog.Nop())
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	go func() { defer close(x.ended); _ = sender.Run(ctx) }()
	return x
}

// before lets the process die, or stand still for a while, at the armed point.
func (x *texter) before(p queue.Point, _ string) error {
	x.mu.Lock()
	if x.dead {
		x.mu.Unlock()
		return errDead
	}
	if p != x.at {
		x.mu.Unlock()
		return nil
	}
	x.at = ""
	pause := x.pause
	x.dead = pause == 0
	x.mu.Unlock()
	if pause == 0 {
		return errDead
	}
	time.Sleep(pause)
	return nil
}

func (x *texter) armed(p queue.Point, pause time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.at, x.pause = p, pause
}

func (x *texter) isDead() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.dead
}

// kill ends the process without any further write; a request that is under way stays so.
func (x *texter) kill() {
	x.mu.Lock()
	x.dead = true
	x.mu.Unlock()
	x.stop()
}

func (x *texter) stop() {
	x.cancel()
	<-x.ended
	x.nc.Close()
}

// notice puts a notice to a number into the outbox, as the end of a promise does.
func (w *textWorld) notice(session, phone, language string, wait time.Duration) string {
	w.t.Helper()
	id, err := w.promised(session, phone, language, wait)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// promised does the same where the caps allow the promise.
func (w *textWorld) promised(session, phone, language string, wait time.Duration) (string, error) {
	w.t.Helper()
	ctx, q, now := w.t.Context(), w.queue, time.Now().UTC()
	parent := chat.Ticket{
		ID: chat.NewTicketID(), Tenant: "demo", Session: session, Lane: chat.Normal, Message: "Where is it?", Phone: phone,
		Language: language, Intent: "other", AcceptedAt: now, Deadline: now.Add(10 * time.Second),
	}
	_, _, err := q.Accept(ctx, parent, queue.Claim{})
	var job *queue.Job
	err = errors.Join(err, q.Pull(ctx, chat.Normal, 1, 50*time.Millisecond, func(j *queue.Job) { job = j }))
	if err != nil || job == nil {
		w.t.Fatalf("accept: %v", err)
	}
	s, err := q.Admit(ctx, job)
	if err != nil {
		w.t.Fatal(err)
	}
	id, made, err := q.Promise(ctx, &s.Ticket, now, wait, w.in().carriers.texting(w.rules).Caps)
	if err != nil {
		_, errCancel := q.Cancel(ctx, parent.ID, chat.ReasonCustomer, now)
		return "", errors.Join(err, errCancel)
	}
	s.Ticket.Answer(chat.Answer{
		Reply: chat.Reply{Text: "Later.", Locale: "en"}, Route: chat.RouteTemplate, Reason: chat.ReasonOverdue, FollowUp: id, Promise: &made,
	}, time.Now().UTC())
	if _, err := q.End(ctx, job, s); err != nil {
		w.t.Fatal(err)
	}
	_, err = q.SettlePromise(ctx, id, chat.PromiseSent, "", time.Now().UTC())
	return id, err
}

// stands returns a notice, its promise, and what its session was told of that.
func (w *textWorld) stands(session, id string) (chat.Notice, queue.Owed, []chat.PromiseStatus) {
	w.t.Helper()
	n, err := w.queue.Notice(w.t.Context(), id)
	owed, errOwed := w.queue.Owed(w.t.Context(), id)
	events, _, _, errEvents := w.queue.Events(w.t.Context(), "demo", session, 0, 1000)
	if err := errors.Join(err, errOwed, errEvents); err != nil {
		w.t.Fatal(err)
	}
	var told []chat.PromiseStatus
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			w.t.Errorf("event %d has seq %d", i+1, e.Seq)
		}
		if e.Kind == chat.KindPromise && e.Ticket == id {
			told = append(told, e.Promise.Status)
		}
	}
	return n, owed, told
}

func (w *textWorld) want(session, id string, state chat.NoticeState, told ...chat.PromiseStatus) chat.Notice {
	w.t.Helper()
	n, owed, got := w.stands(session, id)
	if told = append([]chat.PromiseStatus{chat.Promised, chat.PromiseSent}, told...); n.State != state || !slices.Equal(got, told) || owed.Status != told[len(told)-1] {
		w.t.Errorf("notice %s (%s), promise %s, the session was told %v; want %s and %v", n.State, n.Fault, owed.Status, got, state, told)
	}
	return n
}

// taken returns how often the carrier has taken a notice.
func (w *textWorld) taken(id string) (n int) {
	for _, text := range w.carrier.Texts() {
		if text.Notice == id {
			n++
		}
	}
	return n
}
