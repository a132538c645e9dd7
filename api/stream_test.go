package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/pulse"
)

// crowded is a controller that knows who holds and waits for permits of vendor a.
type crowded struct {
	*breakers
	demand VendorDemand
}

func (c crowded) States(context.Context) (map[string]VendorState, error) {
	return map[string]VendorState{"a": {InUse: 3, Breaker: "open", Demand: c.demand}}, nil
}

// event is one server-sent event.
type sentEvent struct {
	name string
	data map[string]any
}

// events opens a stream with an operator's login; the channel is closed when it ends.
func (f *fixture) events() (_ <-chan sentEvent, header http.Header, leave func()) {
	f.t.Helper()
	if f.cookie == "" {
		f.cookie, f.csrf = f.login()
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", f.url+"/admin/api/stream", nil)
	must(f.t, err)
	req.Header.Set("Cookie", f.cookie)
	res, err := f.client.Do(req)
	must(f.t, err)
	if res.StatusCode != http.StatusOK {
		f.t.Fatalf("stream: %s", res.Status)
	}
	all := make(chan sentEvent, 1000)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(all)
		var now sentEvent
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if name, found := strings.CutPrefix(lines.Text(), "event: "); found {
				now.name = name
			}
			if data, found := strings.CutPrefix(lines.Text(), "data: "); found {
				now.data = nil
				if err := json.Unmarshal([]byte(data), &now.data); err != nil {
					f.t.Errorf("event %s: %v", now.name, err)
				}
				all <- now
			}
		}
	})
	return all, res.Header, func() { cancel(); reading.Wait(); _ = res.Body.Close() }
}

// next returns the next event of a name, and fails after a while.
func next(t *testing.T, all <-chan sentEvent, name string) map[string]any {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		select {
		case e, open := <-all:
			if !open {
				t.Fatalf("the stream ended before an event %s", name)
			}
			if e.name == name {
				return e.data
			}
		case <-limit.C:
			t.Fatalf("no event %s came", name)
		}
	}
}

// ended waits until a stream has ended, and fails after a while.
func ended(t *testing.T, all <-chan sentEvent) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		select {
		case _, open := <-all:
			if !open {
				return
			}
		case <-limit.C:
			t.Fatal("the stream goes on")
		}
	}
}

// TestAStreamTellsTheHourAndThenWhatChanges: history, state at once, another state once a
// ticket came in, and its end with the node.
func TestAStreamTellsTheHourAndThenWhatChanges(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	all, header, leave := f.events()
	defer leave()
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Cache-Control": "no-store", "Content-Encoding": ""} {
		if got := header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	first := <-all
	if first.name != "history" || first.data["step_s"] != 10.0 || first.data["series"] == nil {
		t.Fatalf("first comes %s: %v", first.name, first.data)
	}
	depth := func(state map[string]any) float64 {
		for _, l := range state["lanes"].([]any) {
			if lane := l.(map[string]any); lane["lane"] == "high" {
				return lane["depth"].(float64)
			}
		}
		t.Fatalf("no lane high in %v", state)
		return 0
	}
	state := next(t, all, "state")
	if depth(state) != 0 || len(state["vendors"].([]any)) == 0 || state["dead_letters"] != 0.0 {
		t.Errorf("the first state: %v", state)
	}
	for name, want := range f.admin("GET", "overview", nil).json {
		if _, there := state[name]; !there {
			t.Errorf("the state lacks %s of the overview: %v", name, want)
		}
	}
	f.submit(map[string]any{"message": "hello"})
	for depth(state) != 1 {
		state = next(t, all, "state")
	}
	f.stop()
	ended(t, all)
}

// TestAHundredStreamsHaveOneMaker: the hundred-and-first is refused, what they tell is made
// once for all, and not at all when nobody listens.
func TestAHundredStreamsHaveOneMaker(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	var made atomic.Int64
	f.streams.mu.Lock()
	f.streams.topics = append(f.streams.topics, topic{"count", func(context.Context) (any, error) {
		return map[string]int64{"n": made.Add(1)}, nil
	}})
	f.streams.mu.Unlock()
	var leaves []func()
	var last <-chan sentEvent
	for range maxStreams {
		all, _, leave := f.events()
		leaves, last = append(leaves, leave), all
	}
	refused(t, f.admin("GET", "stream", nil), http.StatusServiceUnavailable, "too_many_streams")
	n := next(t, last, "count")["n"].(float64)
	if next(t, last, "count")["n"].(float64) != n+1 {
		t.Error("a stream that keeps up misses a change")
	}
	for _, leave := range leaves {
		leave()
	}
	f.await("the end of all streams", func() bool { f.streams.mu.Lock(); defer f.streams.mu.Unlock(); return f.streams.open == 0 })
	if made.Load() > 100 {
		t.Errorf("what a hundred streams tell was made %d times", made.Load())
	}
	all, _, leave := f.events()
	defer leave()
	next(t, all, "state")
}

// TestTheOldIsNotKeptForASlowStream: of several changes it gets the last.
func TestTheOldIsNotKeptForASlowStream(t *testing.T) {
	t.Parallel()
	n, fault := 0, false
	s := newStreams(zerolog.Nop(), topic{"count", func(context.Context) (any, error) {
		if fault {
			return nil, errNoLanes
		}
		n++
		return n, nil
	}})
	leave, err := s.enter()
	must(t, err)
	told := map[string]uint64{}
	for range 5 {
		s.make(t.Context(), s.topics[0])
	}
	if all, _ := s.since(told); len(all) != 1 || string(all[0].body) != "5" {
		t.Errorf("got %v, want the fifth alone", all)
	}
	fault = true
	for range 2 {
		s.make(t.Context(), s.topics[0])
	}
	all, changed := s.since(told)
	if len(all) != 1 || all[0].event != "problem" || !strings.Contains(string(all[0].body), `"code":"internal"`) {
		t.Errorf("what cannot be made is told as %v", all)
	}
	fault, n = false, 4
	s.make(t.Context(), s.topics[0])
	<-changed
	if all, _ := s.since(told); len(all) != 1 || string(all[0].body) != "5" {
		t.Errorf("after the problem came %v, want the fifth again", all)
	}
	leave()
	leave()
	if all, _ := s.since(map[string]uint64{}); len(all) != 0 || s.open != 0 {
		t.Errorf("what nobody kept fresh is told: %v, %d open", all, s.open)
	}
}

// TestAStreamEndsWithItsLogin: the next look after the logout finds none.
func TestAStreamEndsWithItsLogin(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.cookie, f.csrf = f.login()
	r, err := http.NewRequestWithContext(t.Context(), "GET", f.url+"/admin/api/stream", nil)
	must(t, err)
	r.Header.Set("Cookie", f.cookie)
	sure := time.Now()
	if !f.holds(r, &sure) {
		t.Fatal("a login that holds is not found")
	}
	if a := f.admin("POST", "logout", nil); a.status != http.StatusNoContent {
		t.Fatalf("logout: %d %s", a.status, a.raw)
	}
	if f.holds(r, &sure) {
		t.Error("the stream goes on after the logout")
	}
	// While the store does not answer, a login holds for a little while.
	f.engine.Close()
	if sure = time.Now(); !f.holds(r, &sure) {
		t.Error("the stream ends as soon as the store is away")
	}
	if sure = sure.Add(-streamTrust); f.holds(r, &sure) {
		t.Error("a login that cannot be looked at holds for ever")
	}
}

// TestTheOverviewTellsWhatAllProcessesCount: rates, waits and routes of the board, the crowd
// and the breaker's end of the controller.
func TestTheOverviewTellsWhatAllProcessesCount(t *testing.T) {
	t.Parallel()
	until := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	f := nodes(t, 1)[0]
	f.deps.Board = pulse.NewBoard(f.queue, zerolog.Nop())
	f.deps.Owed = func(context.Context) map[chat.PromiseStatus]int {
		return map[chat.PromiseStatus]int{chat.PromiseBroken: 2}
	}
	f.deps.Vendors = crowded{&breakers{}, VendorDemand{
		Crowd: []Occupant{{"demo", chat.High, 3}}, Waiters: map[chat.Lane]int{chat.Low: 4}, TokensUsed: 50, BreakerUntil: &until,
	}}
	out, err := f.overview(t.Context(), nil)
	must(t, err)
	v := out.Body.Vendors[0]
	if v.Base+v.ElasticPermits != v.Limit || v.ElasticPermits < 1 || v.TokensUsed != 50 || v.Waiters[chat.Low] != 4 ||
		len(v.Crowd) != 1 || !v.BreakerUntil.Equal(until) || *v.ThrottledHour != 0 || v.P95MS != nil {
		t.Errorf("vendor a: %+v", v)
	}
	if out.Body.Promises[chat.PromiseBroken] != 2 || *out.Body.Sockets != 0 || len(out.Body.Routes) != len(pulse.Routes()) {
		t.Errorf("life: %+v", out.Body.Life)
	}
	if l := out.Body.Lanes[0]; l.OldestMS != 0 || *l.InPerMinute != 0 || l.WaitP95MS != nil {
		t.Errorf("lane: %+v", l.LaneFlow)
	}
}
