package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/internal/chat"
	"sluice/internal/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// faults are what a desk does wrong, by the number of the ticket or submission from 0 on.
type faults struct {
	forget  func(n int) bool // the ticket never ends
	drop    func(n int) bool // the ticket is not found
	twice   func(n int) bool // two final events
	change  func(n int) bool // another reply at each read
	skip    func(n int) bool // a gap in seq before the final event
	silence func(n int) bool // no final event
	refuse  func(n int) bool // 503 queue_full
	bare    bool             // without Retry-After
	cut     func(n int) bool // the connection breaks after the ticket was made
	busy    func(n int) bool // the poll is refused with 429
}

// desk is a small server of the ticket contract: tickets end a fixed time after their
// acceptance, the n-th by a route that n decides.
type desk struct {
	*httptest.Server
	faults faults
	takes  time.Duration
	work   func(n int) // beside every ticket, or nil
	seen   chan int    // tells of every submission, or nil
	calls  sync.WaitGroup

	mu        sync.Mutex
	submitted int
	polled    int
	reads     int
	tickets   []*deskTicket
	byKey     map[string]*deskTicket
	log       map[string][]chat.Event
	lanes     map[chat.Lane]int
	keys      map[string]int
	waits     map[string]bool
}

type deskTicket struct {
	chat.Ticket
	n   int
	due time.Time
}

func newDesk(t *testing.T, f faults) *desk {
	t.Helper()
	d := &desk{
		faults: f, takes: 30 * time.Millisecond, byKey: map[string]*deskTicket{}, log: map[string][]chat.Event{},
		lanes: map[chat.Lane]int{}, keys: map[string]int{}, waits: map[string]bool{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /v1/tickets", d.submit)
	mux.HandleFunc("GET /v1/tickets/{id}", d.read)
	mux.HandleFunc("DELETE /v1/tickets/{id}", d.cancel)
	mux.HandleFunc("GET /v1/sessions/{id}/events", d.events)
	d.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		d.Close()
		d.calls.Wait()
	})
	return d
}

func (d *desk) target() Target {
	return Target{BaseURL: d.URL, Keys: []string{"sk_one", "sk_two", "sk_three"}}
}

func is(f func(int) bool, n int) bool { return f != nil && f(n) }

func only(wrong ...int) func(int) bool {
	return func(n int) bool { return slices.Contains(wrong, n) }
}

func (d *desk) submit(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Message   string    `json:"message"`
		SessionID string    `json:"session_id"`
		Lane      chat.Lane `json:"lane"`
		MaxWait   string    `json:"max_wait"`
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil || chat.CheckMessage("message", body.Message) != nil {
		problem(w, http.StatusBadRequest, "invalid", false)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	if known := d.byKey[key]; known != nil {
		answer(w, http.StatusOK, known.receipt())
		return
	}
	n := d.submitted
	d.submitted++
	if d.seen != nil {
		d.seen <- n
	}
	if is(d.faults.refuse, n) {
		problem(w, http.StatusServiceUnavailable, "queue_full", !d.faults.bare)
		return
	}
	d.lanes[body.Lane]++
	d.keys[r.Header.Get("Authorization")]++
	d.waits[body.MaxWait] = true
	t := d.accept(body.SessionID, body.Lane)
	d.byKey[key] = t
	if is(d.faults.cut, t.n) {
		panic(http.ErrAbortHandler)
	}
	answer(w, http.StatusAccepted, t.receipt())
}

func (d *desk) accept(session string, lane chat.Lane) *deskTicket {
	if session == "" {
		session = chat.NewSessionID()
	}
	now := time.Now()
	t := &deskTicket{n: len(d.tickets), due: now.Add(d.takes)}
	t.ID, t.Session, t.Lane, t.Status, t.AcceptedAt = chat.NewTicketID(), session, lane, chat.Queued, now
	d.tickets = append(d.tickets, t)
	d.tell(t.InEvent(), session)
	if d.work != nil {
		d.calls.Go(func() { d.work(t.n) })
	}
	return t
}

func (d *desk) tell(e chat.Event, session string) {
	e.Seq = uint64(len(d.log[session]) + 1)
	if n := len(d.log[session]); n > 0 {
		e.Seq = d.log[session][n-1].Seq + 1
	}
	d.log[session] = append(d.log[session], e)
}

// settle ends every ticket whose time has come.
func (d *desk) settle(now time.Time) {
	for _, t := range d.tickets {
		if t.Status.Ended() || now.Before(t.due) || is(d.faults.forget, t.n) {
			continue
		}
		decided := t.AcceptedAt.Add(time.Duration(t.n) * time.Millisecond)
		t.DecidedAt = &decided
		a := chat.Answer{Route: chat.RouteAgent, Vendor: "a", Reply: chat.Reply{Text: "done"}}
		if t.n%10 == 9 {
			a = chat.Answer{Route: chat.RouteTemplate, Reason: chat.ReasonOverdue, Reply: chat.Reply{Text: "later"}}
		}
		t.Answer(a, t.due)
		d.final(t)
	}
}

func (d *desk) final(t *deskTicket) {
	if is(d.faults.silence, t.n) {
		return
	}
	d.tell(t.FinalEvent(), t.Session)
	log := d.log[t.Session]
	if is(d.faults.skip, t.n) {
		log[len(log)-1].Seq++
	}
	if is(d.faults.twice, t.n) {
		d.tell(t.FinalEvent(), t.Session)
	}
}

func (d *desk) read(w http.ResponseWriter, r *http.Request) {
	wait, _ := time.ParseDuration(r.URL.Query().Get("wait"))
	if wait > 0 {
		d.mu.Lock()
		n := d.polled
		d.polled++
		d.mu.Unlock()
		if is(d.faults.busy, n) {
			problem(w, http.StatusTooManyRequests, "too_many_polls", true)
			return
		}
	}
	until := time.Now().Add(wait)
	for {
		t, open := d.look(r.PathValue("id"))
		if t == nil {
			problem(w, http.StatusNotFound, "not_found", false)
			return
		}
		left := min(time.Until(until), 20*time.Millisecond)
		if !open || left <= 0 || !pause(r.Context(), left) {
			answer(w, http.StatusOK, t)
			return
		}
	}
}

func (d *desk) look(id string) (public map[string]any, open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(time.Now())
	for _, t := range d.tickets {
		if t.ID != id || is(d.faults.drop, t.n) {
			continue
		}
		d.reads++
		public := t.show()
		if is(d.faults.change, t.n) && t.Status.Ended() {
			public["reply"] = map[string]any{"text": fmt.Sprint("read ", d.reads)}
		}
		return public, !t.Status.Ended()
	}
	return nil, false
}

func (d *desk) cancel(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(time.Now())
	for _, t := range d.tickets {
		if t.ID != r.PathValue("id") {
			continue
		}
		if t.Status.Ended() {
			problem(w, http.StatusConflict, "ended", false)
			return
		}
		t.Cancel(chat.ReasonCustomer, time.Now())
		d.final(t)
		answer(w, http.StatusOK, t.show())
		return
	}
	problem(w, http.StatusNotFound, "not_found", false)
}

// events gives out two at a time, so that callers have to go on reading.
func (d *desk) events(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	d.mu.Lock()
	defer d.mu.Unlock()
	p := page{Events: []chat.Event{}}
	for _, e := range d.log[r.PathValue("id")] {
		p.Head = e.Seq
		if e.Seq > after && len(p.Events) < 2 {
			p.Events = append(p.Events, e)
		}
	}
	answer(w, http.StatusOK, p)
}

func (t *deskTicket) receipt() map[string]any {
	return map[string]any{"ticket_id": t.ID, "session_id": t.Session, "status": t.Status, "lane": t.Lane}
}

func (t *deskTicket) show() map[string]any {
	v := t.receipt()
	v["accepted_at"] = t.AcceptedAt
	if t.EndedAt != nil {
		v["ended_at"], v["route"], v["reason"], v["vendor"] = t.EndedAt, t.Route, t.Reason, t.Vendor
	}
	if t.Reply != nil {
		v["queued_ms"], v["reply"] = t.DecidedAt.Sub(t.AcceptedAt).Milliseconds(), map[string]any{"text": t.Reply.Text}
		v["handled_ms"] = int64(7)
	}
	return v
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have left
}

func problem(w http.ResponseWriter, status int, code string, retry bool) {
	body := map[string]any{"code": code, "status": status}
	if retry {
		w.Header().Set("Retry-After", "1")
		body["retry_after_ms"] = 20
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// burst runs a burst that must begin.
func burst(t *testing.T, to Target, cfg BurstConfig) *Report {
	t.Helper()
	r, err := Burst(t.Context(), to, cfg, report.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tickets != r.Unsent+r.refusedSum()+r.Accepted || r.Accepted != r.Answered+r.Failed+r.Cancelled+r.Lost+r.Open {
		t.Errorf("the counts do not add up: %+v", r)
	}
	if r.Verdict.OK != r.OK() || r.OK() != (len(r.Verdict.Reasons) == 0) {
		t.Errorf("verdict %+v, OK() %t", r.Verdict, r.OK())
	}
	return r
}

func wantFault(t *testing.T, r *Report, part string) {
	t.Helper()
	if r.OK() || !strings.Contains(strings.Join(r.Verdict.Reasons, "\n"), part) {
		t.Errorf("verdict %+v, want a fault with %q", r.Verdict, part)
	}
}
