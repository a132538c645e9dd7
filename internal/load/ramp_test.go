package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/llm"
	"sluice/internal/report"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// answersIn200ms is a vendor without any spread.
func answersIn200ms() sim.Behaviour {
	return sim.Behaviour{FirstToken: sim.Fixed(50 * time.Millisecond), Call: sim.Fixed(200 * time.Millisecond)}
}

// climb runs a ramp in a bubble against a simulated vendor whose requests pass through
// front, if that is set.
func climb(t *testing.T, vendor sim.Config, front func(http.Handler) http.Handler, cfg RampConfig) (*RampReport, sim.Stats, error) {
	t.Helper()
	vendor.Name = "a"
	v, err := sim.NewVendor(vendor)
	if err != nil {
		t.Fatal(err)
	}
	handler := v.Handler()
	if front != nil {
		handler = front(handler)
	}
	door := sim.NewPipeListener()
	server := &http.Server{Handler: handler}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(door); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	client, err := llm.New(llm.Config{Vendor: "a", BaseURL: "http://vendor.test/v1", Model: "m", Dial: door.Dial, MaxConns: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		client.Close()
		_ = server.Close()
		serving.Wait()
	}()
	r, err := Ramp(t.Context(), client, Account{Name: "acme", URL: "http://vendor.test/v1", KeyEnv: "ACME_KEY", Model: "m"}, cfg, report.Progress{})
	return r, v.Stats(), err
}

func TestRampFindsTheQuotaOfAVendor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, stats, err := climb(t, sim.Config{Quota: 60, Behaviour: answersIn200ms()}, nil, RampConfig{})
		if err != nil {
			t.Fatal(err)
		}
		var took []int
		for _, s := range r.Steps {
			took = append(took, s.AtOnce)
		}
		if got, want := ints(took), "1 2 5 10 20 50 100 71 60 65"; got != want {
			t.Errorf("steps %s, want %s", got, want)
		}
		p := r.Proposal
		if p == nil || p.Knee != 60 || !p.Found || p.Share != 0.7 || p.Permits != 42 || p.MeanMS != 200 || p.PerSecond != 300 || p.QPS != 210 {
			t.Fatalf("proposal %+v", p)
		}
		if r.Calls != stats.Calls || stats.Refused == 0 {
			t.Errorf("%d calls reported, the vendor saw %d and refused %d", r.Calls, stats.Calls, stats.Refused)
		}
		checkProposedRules(t, r, 42)
	})
}

// crowded lets at most places requests through at a time, as a vendor does that queues
// what it cannot serve.
func crowded(places int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		free := make(chan struct{}, places)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			free <- struct{}{}
			defer func() { <-free }()
			next.ServeHTTP(w, r)
		})
	}
}

func TestRampFindsWhereAVendorOnlyBecomesSlower(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, stats, err := climb(t, sim.Config{Behaviour: answersIn200ms()}, crowded(16), RampConfig{})
		if err != nil {
			t.Fatal(err)
		}
		// 20 at once gain a little over 10; somewhere between lies the knee.
		if p := r.Proposal; p == nil || p.Knee < 14 || p.Knee > 20 || p.Share != 0.8 || !p.Found {
			t.Errorf("proposal %+v", p)
		}
		if stats.MaxInFlight > 16 || stats.Refused != 0 {
			t.Errorf("stats %+v", stats)
		}
	})
}

func TestRampKeepsItsBudget(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]RampConfig{
		"calls":  {Calls: 120},
		"tokens": {Tokens: 1500},
		"most":   {Max: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, stats, err := climb(t, sim.Config{Behaviour: answersIn200ms()}, nil, cfg)
				if err != nil {
					t.Fatal(err)
				}
				p := r.Proposal
				if p == nil || p.Found || p.Share != 0.8 {
					t.Fatalf("proposal %+v, want one without a knee", p)
				}
				if cfg.Calls > 0 && stats.Calls > cfg.Calls {
					t.Errorf("%d calls, want at most %d", stats.Calls, cfg.Calls)
				}
				// A step's calls in flight may go beyond it.
				if cfg.Tokens > 0 && r.Tokens > cfg.Tokens+50*40 {
					t.Errorf("%d tokens, want about %d", r.Tokens, cfg.Tokens)
				}
				if cfg.Max > 0 && (p.Knee != 4 || stats.MaxInFlight != 4) {
					t.Errorf("knee %d, at most %d in flight, want 4 and 4", p.Knee, stats.MaxInFlight)
				}
				if (r.Ended != "") != (cfg.Max == 0) {
					t.Errorf("ended: %q", r.Ended)
				}
			})
		})
	}
}

func TestRampStopsAtAVendorThatTakesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, stats, err := climb(t, sim.Config{Key: "secret", Behaviour: answersIn200ms()}, nil, RampConfig{})
		if r != nil || err == nil || !strings.Contains(err.Error(), "401") || stats.Calls > 1 {
			t.Errorf("report %+v, error %v, calls %d; want none, one with 401, 1", r, err, stats.Calls)
		}
		failing := answersIn200ms()
		failing.ErrorShare = 1
		r, _, err = climb(t, sim.Config{Behaviour: failing}, nil, RampConfig{})
		if err != nil || r.OK() || r.Proposal != nil || len(r.Steps) != 1 || !r.Steps[0].Hard {
			t.Errorf("report %+v, error %v; want one step and no proposal", r, err)
		}
	})
}

func TestAnInterruptedRampSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, err := sim.NewVendor(sim.Config{Name: "a", Behaviour: answersIn200ms()})
		if err != nil {
			t.Fatal(err)
		}
		door := sim.NewPipeListener()
		serving, stop := context.WithCancel(t.Context())
		var server sync.WaitGroup
		server.Go(func() { _ = sim.Serve(serving, v, door, nil) })
		client, err := llm.New(llm.Config{Vendor: "a", BaseURL: "http://vendor.test/v1", Model: "m", Dial: door.Dial})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		r, err := Ramp(ctx, client, Account{Name: "a"}, RampConfig{}, report.Progress{})
		if err != nil || r.OK() || !r.Interrupted || len(r.Steps) != 1 {
			t.Errorf("report %+v, error %v; want one step, interrupted", r, err)
		}
		client.Close()
		stop()
		server.Wait()
	})
}

// checkProposedRules reads the proposed rules as Sluice would.
func checkProposedRules(t *testing.T, r *RampReport, permits int) {
	t.Helper()
	parsed, err := rules.Parse("proposed", []byte(r.Rules))
	if err != nil {
		t.Fatalf("the proposed rules cannot be read: %v\n%s", err, r.Rules)
	}
	v := parsed.Vendors[0]
	if v.Name != "acme" || v.Limit() != permits || v.QPS != r.Proposal.QPS || v.Endpoints[0].KeyEnv != "ACME_KEY" {
		t.Errorf("vendor %+v", v)
	}
	var table, page, raw, again bytes.Buffer
	back := &RampReport{}
	if err := errors.Join(r.Table(&table), r.HTML(&page), r.JSON(&raw), json.Unmarshal(raw.Bytes(), back), back.HTML(&again)); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"knee: 60 calls at once", "60 × 0.7 = 42", "300.0 × 0.7 = 210", "quota: 60", "verdict: OK"} {
		if !strings.Contains(table.String(), word) {
			t.Errorf("the table does not say %q:\n%s", word, table.String())
		}
	}
	if page.String() != again.String() || strings.Count(page.String(), "<svg") != 2 {
		t.Error("the page has no two charts, or another one after its JSON was read")
	}
}

func ints(all []int) string {
	var b strings.Builder
	for i, n := range all {
		if i > 0 {
			_, _ = io.WriteString(&b, " ")
		}
		raw, _ := json.Marshal(n)
		b.Write(raw)
	}
	return b.String()
}
