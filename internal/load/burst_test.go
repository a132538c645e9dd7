package load

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/report"
)

func TestBurstCountsEveryTicket(t *testing.T) {
	t.Parallel()
	d := newDesk(t, faults{})
	r := burst(t, d.target(), BurstConfig{Tickets: 300, Over: 300 * time.Millisecond, MaxWait: 3 * time.Second})
	if !r.OK() || r.Accepted != 300 || r.Answered != 300 {
		t.Fatalf("verdict %+v, accepted %d, answered %d", r.Verdict, r.Accepted, r.Answered)
	}
	want := []RouteCount{{chat.RouteAgent, "", 270}, {chat.RouteTemplate, chat.ReasonOverdue, 30}}
	if !reflect.DeepEqual(r.Routes, want) {
		t.Errorf("routes %+v, want %+v", r.Routes, want)
	}
	// The n-th ticket waited n ms.
	if got, want := r.Times[0].Wait, (Spread{300, 149, 284, 296, 299}); got != want {
		t.Errorf("waits %+v, want %+v", got, want)
	}
	if got := r.Times[0].Handled; got.P50 != 7 || got.Max != 7 {
		t.Errorf("handled %+v, want 7 ms", got)
	}
	if r.Times[0].Total.P50 != 30 || r.SentMS < 290 {
		t.Errorf("total %+v, sent in %d ms", r.Times[0].Total, r.SentMS)
	}
	ended := 0
	for _, s := range r.Series {
		ended += s.Ended
	}
	if ended != 300 {
		t.Errorf("the series tells of %d ends", ended)
	}
	for key, n := range d.keys {
		if n != 100 {
			t.Errorf("%s sent %d tickets, want 100", key, n)
		}
	}
	if len(d.waits) != 1 || !d.waits["3s"] {
		t.Errorf("max_wait %v, want only 3s", d.waits)
	}
	for lane, most := range map[chat.Lane]int{chat.High: 60, chat.Normal: 250, chat.Low: 100} {
		if n := d.lanes[lane]; n < 10 || n > most {
			t.Errorf("%d tickets in lane %s", n, lane)
		}
	}
	own, shared := 0, 0
	for session := range d.log {
		if strings.HasPrefix(session, "s_") {
			own++
		} else {
			shared++
		}
	}
	if own < 210 || own > 270 || shared < 5 || shared > 15 {
		t.Errorf("%d own sessions and %d shared ones", own, shared)
	}
}

func TestBurstFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults faults
		fault  string
		want   func(*Report) bool
	}{
		"a ticket that never ends": {
			faults{forget: only(7)}, "tickets lost: 1",
			func(r *Report) bool {
				return r.Lost == 1 && r.Answered == 59 && r.LostSample[0].Why == "not ended in time"
			},
		},
		"a ticket that is not found": {
			faults{drop: only(3, 4)}, "tickets lost: 2",
			func(r *Report) bool { return r.Lost == 2 && r.LostSample[0].Why == "not found" },
		},
		"a second final event": {
			faults{twice: only(5)}, "duplicate ends: 1",
			func(r *Report) bool { return r.Duplicates == 1 && r.Answered == 60 && r.Gaps == 0 },
		},
		"an end that changes": {
			faults{change: only(8, 9)}, "duplicate ends: 2",
			func(r *Report) bool { return r.Duplicates == 2 },
		},
		"a gap in seq": {
			faults{skip: only(11)}, "events: 1",
			func(r *Report) bool { return r.Gaps == 1 && r.Duplicates == 0 },
		},
		"an end that is not told": {
			faults{silence: only(12)}, "ends not told in their session's events: 1",
			func(r *Report) bool { return r.Untold == 1 && r.Lost == 0 },
		},
		"every message refused": {
			faults{refuse: func(int) bool { return true }}, "no ticket was accepted",
			func(r *Report) bool { return r.Refused["queue_full"] == 60 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, c.faults)
			r := burst(t, d.target(), BurstConfig{Tickets: 60, Timeout: 400 * time.Millisecond})
			wantFault(t, r, c.fault)
			if !c.want(r) {
				t.Errorf("report %+v", r)
			}
		})
	}
}

func TestBurstTakesRefusalsAsAnswers(t *testing.T) {
	t.Parallel()
	third := func(n int) bool { return n%3 == 0 }
	for _, bare := range []bool{false, true} {
		r := burst(t, newDesk(t, faults{refuse: third, bare: bare}).target(), BurstConfig{Tickets: 60})
		if !r.OK() || r.Refused["queue_full"] != 20 || r.Accepted != 40 || r.Answered != 40 {
			t.Errorf("verdict %+v, refused %v, accepted %d", r.Verdict, r.Refused, r.Accepted)
		}
		if (r.BareRefused == 20) != bare || (len(r.Notes) == 2) != bare {
			t.Errorf("bare %t: %d without Retry-After, notes %q", bare, r.BareRefused, r.Notes)
		}
	}
}

func TestBurstRepeatsABrokenSubmissionUnderTheSameKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t, faults{cut: only(0, 5, 17)})
	r := burst(t, d.target(), BurstConfig{Tickets: 20})
	if !r.OK() || r.Answered != 20 || d.submitted != 20 {
		t.Errorf("verdict %+v, answered %d of %d submissions", r.Verdict, r.Answered, d.submitted)
	}
}

func TestBurstHonoursRetryAfterOfPolls(t *testing.T) {
	t.Parallel()
	d := newDesk(t, faults{busy: func(n int) bool { return n%2 == 0 }})
	if r := burst(t, d.target(), BurstConfig{Tickets: 40}); !r.OK() || r.Answered != 40 {
		t.Errorf("verdict %+v, answered %d", r.Verdict, r.Answered)
	}
}

func TestBurstCancelsAShare(t *testing.T) {
	t.Parallel()
	// Every other ticket ends only by its cancel.
	d := newDesk(t, faults{forget: func(n int) bool { return n%2 == 1 }})
	r := burst(t, d.target(), BurstConfig{Tickets: 60, CancelShare: 1, Sessions: 5})
	if !r.OK() || r.Cancelled < 30 || r.Answered < 15 || r.Cancelled+r.Answered != 60 {
		t.Errorf("verdict %+v, cancelled %d, answered %d", r.Verdict, r.Cancelled, r.Answered)
	}
	if len(d.log) > 15 {
		t.Errorf("%d sessions, want at most 5 of each of 3 tenants", len(d.log))
	}
}

func TestBurstFollowsMoreTicketsThanItHasCollectors(t *testing.T) {
	t.Parallel()
	d := newDesk(t, faults{})
	d.takes = 300 * time.Millisecond
	if r := burst(t, d.target(), BurstConfig{Tickets: 3 * polls}); !r.OK() || r.Answered != 3*polls {
		t.Errorf("verdict %+v, answered %d", r.Verdict, r.Answered)
	}
}

func TestBurstThatIsInterruptedTellsWhatItKnows(t *testing.T) {
	t.Parallel()
	d := newDesk(t, faults{})
	d.takes = time.Hour
	d.seen = make(chan int, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for n := range d.seen {
			if n == 50 {
				cancel()
				return
			}
		}
	}()
	r, err := Burst(ctx, d.target(), BurstConfig{Tickets: 1000, Over: 20 * time.Second}, report.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted || r.Lost != 0 || r.Open == 0 || r.Open != r.Accepted || r.Unsent+r.Accepted != 1000 {
		t.Errorf("interrupted %t, lost %d, open %d, accepted %d, unsent %d", r.Interrupted, r.Lost, r.Open, r.Accepted, r.Unsent)
	}
	wantFault(t, r, "interrupted")
	if err := r.Table(&bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}

func TestBurstRefusesBadTargetsAndConfigs(t *testing.T) {
	t.Parallel()
	good := Target{BaseURL: "http://localhost:1", Keys: []string{"sk"}}
	for part, c := range map[string]struct {
		to  func(*Target)
		cfg BurstConfig
	}{
		"loopback":          {to: func(t *Target) { t.BaseURL = "http://192.0.2.7:8080" }},
		"control: host":     {to: func(t *Target) { t.Control = "http://sim.example" }},
		"absolute":          {to: func(t *Target) { t.BaseURL = "/v1" }},
		"at least one":      {to: func(t *Target) { t.Keys = nil }},
		"number 1 is":       {to: func(t *Target) { t.Keys = []string{""} }},
		"a has -1":          {to: func(t *Target) { t.Limits = map[string]int{"a": -1} }},
		"tickets -1":        {cfg: BurstConfig{Tickets: -1}},
		"tickets 200001":    {cfg: BurstConfig{Tickets: 200_001}},
		"over -1s":          {cfg: BurstConfig{Over: -time.Second}},
		"max wait 10ms":     {cfg: BurstConfig{MaxWait: 10 * time.Millisecond}},
		"cancel share 1.5":  {cfg: BurstConfig{CancelShare: 1.5}},
		"sessions -1":       {cfg: BurstConfig{Sessions: -1}},
		"timeout 2h":        {cfg: BurstConfig{Timeout: 2 * time.Hour}},
		`"fast" is no lane`: {cfg: BurstConfig{Lanes: map[chat.Lane]float64{"fast": 1}}},
		"all shares are 0":  {cfg: BurstConfig{Lanes: map[chat.Lane]float64{chat.High: 0}}},
		"share of high":     {cfg: BurstConfig{Lanes: map[chat.Lane]float64{chat.High: -1}}},
		"reach":             {},
	} {
		to := good
		if c.to != nil {
			c.to(&to)
		}
		r, err := Burst(t.Context(), to, c.cfg, report.Progress{})
		if r != nil || err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("report %v, error %v, want one with %q", r, err, part)
		}
	}
	far := Target{BaseURL: "http://192.0.2.7", Keys: []string{"sk"}}
	if err := far.Validate(false); !errors.Is(err, ErrRemote) {
		t.Errorf("error %v, want ErrRemote", err)
	}
	if err := far.Validate(true); err != nil {
		t.Errorf("allowed remote target: %v", err)
	}
	for _, host := range []string{"http://[::1]:80", "http://LOCALHOST", "http://127.9.9.9"} {
		if err := (Target{BaseURL: host, Keys: []string{"sk"}}).Validate(false); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestJobsOfBatchHaveNoEvents(t *testing.T) {
	t.Parallel()
	d := newDesk(t, faults{silence: func(int) bool { return true }, change: only(3)})
	r := burst(t, d.target(), BurstConfig{Tickets: 20, Lanes: map[chat.Lane]float64{chat.Batch: 1}})
	if r.Untold != 0 || r.Unread != 0 || r.Answered != 20 || r.Duplicates != 1 {
		t.Errorf("untold %d, unread %d, answered %d, changed ends %d, want 0, 0, 20, 1", r.Untold, r.Unread, r.Answered, r.Duplicates)
	}
}

func TestARunningBurstTellsOfEveryMessage(t *testing.T) {
	t.Parallel()
	d := newDesk(t, faults{refuse: only(2)})
	running, err := Begin(t.Context(), d.target(), BurstConfig{Tickets: 10, Over: 50 * time.Millisecond}, report.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	<-running.Sent()
	if n := running.run.counts.sent.Load(); n != 10 {
		t.Errorf("%d messages were handed in, want 10", n)
	}
	_, all := running.Wait()
	refused := 0
	for i, o := range all {
		switch {
		case o.Due != time.Duration(i)*5*time.Millisecond:
			t.Errorf("message %d is due at %s", i, o.Due)
		case o.Code != "":
			refused++
		case o.Status != chat.Answered || o.Ticket == "" || o.Total <= 0 || o.EndedAt.Before(o.AcceptedAt):
			t.Errorf("message %d: %+v", i, o)
		}
	}
	if len(all) != 10 || refused != 1 {
		t.Errorf("%d messages, %d refused, want 10 and 1", len(all), refused)
	}
}
