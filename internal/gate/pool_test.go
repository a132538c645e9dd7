package gate

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"sluice/internal/chat"
)

// shipped is vendor a of the shipped rules: 48 permits, 18 of them elastic.
func shipped() Config {
	return Config{
		Vendors: map[string]Vendor{"a": {Limit: 48, Elastic: 18, Retry: 0.1}},
		Lanes: map[chat.Lane]Lane{
			chat.High: {Elastic: true}, chat.Normal: {Age: 20 * time.Second}, chat.Low: {Age: 20 * time.Second},
			chat.Deferred: {Age: 5 * time.Minute}, chat.Batch: {Age: 30 * time.Minute, Share: 0.5, Floor: 0.05},
		},
	}
}

// crowd lets asks join, numbered from first on, each of its own session.
func crowd(t *testing.T, tb *Table, first uint64, n int, a Ask, now time.Time) {
	t.Helper()
	for i := range uint64(n) {
		a.ID, a.Session, a.Ticket, a.Vendors = first+i, fmt.Sprint(first+i), fmt.Sprint(first+i), []string{"a"}
		if a.AcceptedAt.IsZero() {
			a.AcceptedAt = now
		}
		if err := tb.Join(a, now); err != nil {
			t.Fatal(err)
		}
	}
}

// census counts grants by what key says of them.
func census(all []Grant, key func(Grant) string) map[string]int {
	n := map[string]int{}
	for _, g := range all {
		n[key(g)]++
	}
	return n
}

func byPool(g Grant) string { return string(g.Permit.Lane) + "/" + string(g.Permit.Pool) }

func TestElasticPermitsAreForLanesThatMayBorrow(t *testing.T) {
	t.Parallel()
	tb := NewTable(shipped())
	crowd(t, tb, 1, 60, Ask{Lane: chat.Low}, begin)
	if got := census(tb.Grants(begin), byPool); got["low/"] != 30 || len(got) != 1 {
		t.Fatalf("low alone was granted %v, want the 30 base permits", got)
	}
	// facts/overload.md row 10 (litellm#19301): all high before any further low.
	crowd(t, tb, 100, 20, Ask{Lane: chat.High}, begin)
	if got := census(tb.Grants(begin), byPool); got["high/elastic"] != 18 || len(got) != 1 {
		t.Fatalf("high was granted %v, want the 18 elastic permits", got)
	}
	for id := range uint64(30) {
		tb.Release(id+1, begin)
	}
	if got := census(tb.Grants(begin), byPool); got["high/"] != 2 || got["low/"] != 28 {
		t.Errorf("of 30 base permits %v, want the 2 high that wait first", got)
	}
}

func TestElasticIsTakenBeforeBase(t *testing.T) {
	t.Parallel()
	tb := NewTable(shipped())
	crowd(t, tb, 1, 20, Ask{Lane: chat.High}, begin)
	if got := census(tb.Grants(begin), byPool); got["high/elastic"] != 18 || got["high/"] != 2 {
		t.Errorf("20 of high took %v, want 18 elastic and 2 base", got)
	}
}

func TestBatchHasAShareAndAFloor(t *testing.T) {
	t.Parallel()
	tb := NewTable(shipped())
	crowd(t, tb, 1, 100, Ask{Lane: chat.Batch}, begin)
	if got := census(tb.Grants(begin), byPool); got["batch/"] != 15 || len(got) != 1 {
		t.Fatalf("batch was granted %v, want half of the 30 base permits", got)
	}
	// facts/overload.md row 27 (gateway-api-inference-extension#1861): under a constant load
	// from above it keeps its floor and no more.
	for round := range 40 {
		crowd(t, tb, uint64(1000*(round+1)), 100, Ask{Lane: chat.Normal}, begin)
		for id, p := range tb.permits {
			if p.Lane == chat.Batch || round%2 == 0 {
				tb.Release(id, begin)
			}
		}
		tb.Grants(begin)
		batch := 0
		for _, p := range tb.permits {
			if p.Lane == chat.Batch {
				batch++
			}
		}
		if batch != 1 {
			t.Fatalf("round %d: batch holds %d, want its floor of 1", round, batch)
		}
	}
}

func TestAModelsOwnPermitsAreItsBound(t *testing.T) {
	t.Parallel()
	cfg := shipped()
	cfg.Vendors["a"] = Vendor{Limit: 10, Models: map[string]int{"strong": 4}}
	tb := NewTable(cfg)
	crowd(t, tb, 1, 8, Ask{Lane: chat.Normal, Model: "strong"}, begin)
	crowd(t, tb, 100, 8, Ask{Lane: chat.Low, Model: "light"}, begin)
	got := census(tb.Grants(begin), func(g Grant) string { return g.Permit.Model })
	if got["strong"] != 4 || got["light"] != 6 {
		t.Errorf("granted %v: the strong model must not starve the light one", got)
	}
}

func TestTenantsOfALaneTakeTurns(t *testing.T) {
	t.Parallel()
	cfg := limited(map[string]int{"a": 1})
	cfg.Weights = map[string]float64{"heavy": 2}
	tb := NewTable(cfg)
	crowd(t, tb, 1, 2000, Ask{Tenant: "flood", Lane: chat.Normal}, begin)
	crowd(t, tb, 3000, 10, Ask{Tenant: "small", Lane: chat.Normal}, begin.Add(time.Second))
	crowd(t, tb, 4000, 20, Ask{Tenant: "heavy", Lane: chat.Normal}, begin.Add(time.Second))
	served := map[string]int{}
	for range 40 {
		g := tb.Grants(begin.Add(2 * time.Second))
		served[g[0].Ask.Tenant]++
		tb.Release(g[0].Permit.ID, begin.Add(2*time.Second))
	}
	if served["small"] != 10 || served["heavy"] != 20 || served["flood"] != 10 {
		t.Errorf("of 40 permits %v, want 10 for each share of weight 1 and 20 for that of 2", served)
	}
}

func TestAHigherLanesTenantWaitsForNobodyBelow(t *testing.T) {
	t.Parallel()
	tb := NewTable(limited(map[string]int{"a": 1}))
	crowd(t, tb, 1, 10, Ask{Tenant: "x", Lane: chat.High}, begin)
	crowd(t, tb, 100, 10, Ask{Tenant: "y", Lane: chat.Normal}, begin)
	for range 10 {
		g := tb.Grants(begin)[0]
		if g.Ask.Lane != chat.High {
			t.Fatalf("%s went before high", g.Ask.Lane)
		}
		tb.Release(g.Permit.ID, begin)
	}
}

// 48 → 24 under load admits nobody until in flight is below 24, in whichever pool.
func TestALowerLimitAdmitsNobodyBeforeEnoughHaveEnded(t *testing.T) {
	t.Parallel()
	tb := NewTable(shipped())
	crowd(t, tb, 1, 18, Ask{Lane: chat.High}, begin)
	crowd(t, tb, 100, 60, Ask{Lane: chat.Low}, begin)
	granted := tb.Grants(begin)
	cfg := shipped()
	cfg.Vendors["a"] = Vendor{Limit: 24, Elastic: 9}
	tb.SetConfig(cfg)
	crowd(t, tb, 1000, 60, Ask{Lane: chat.High}, begin)
	for i, g := range granted {
		tb.Release(g.Permit.ID, begin)
		left := len(granted) - i - 1
		got := len(tb.Grants(begin))
		if left >= 24 && got > 0 || left == 23 && got != 1 {
			t.Fatalf("with %d in use %d were granted", left+got, got)
		}
		if left == 23 {
			return
		}
	}
}

func TestAVendorThatGoesAndComesKeepsItsCount(t *testing.T) {
	t.Parallel()
	tb := NewTable(shipped())
	crowd(t, tb, 1, 60, Ask{Lane: chat.Low}, begin)
	granted := tb.Grants(begin)
	without := shipped()
	without.Vendors = map[string]Vendor{"b": {Limit: 5}}
	tb.SetConfig(without)
	if used, limit := tb.InUse("a", begin); used != 30 || limit != 0 || len(tb.Grants(begin)) != 0 {
		t.Fatalf("removed: %d of %d in use", used, limit)
	}
	tb.Release(granted[0].Permit.ID, begin)
	tb.SetConfig(shipped())
	if got := len(tb.Grants(begin)); got != 1 {
		t.Errorf("back again: %d were granted, want the one that was free", got)
	}
	for _, g := range granted {
		tb.Release(g.Permit.ID, begin)
	}
	tb.SetConfig(without)
	for id := range tb.permits {
		tb.Release(id, begin)
	}
	if used, _ := tb.InUse("a", begin); used != 0 || tb.accounts["a"] != nil {
		t.Errorf("a removed vendor whose calls have ended still has %d in use", used)
	}
}

func TestAPausedLaneStartsNothingAndOthersGoOn(t *testing.T) {
	t.Parallel()
	cfg := shipped()
	cfg.Lanes[chat.Low] = Lane{Paused: true}
	tb := NewTable(cfg)
	crowd(t, tb, 1, 5, Ask{Lane: chat.Low}, begin)
	crowd(t, tb, 100, 1, Ask{Lane: chat.Low, Step: true}, begin)
	crowd(t, tb, 200, 5, Ask{Lane: chat.Batch}, begin)
	if got := census(tb.Grants(begin), byPool); got["batch/"] != 5 || len(got) != 1 {
		t.Errorf("granted %v with low paused", got)
	}
	tb.SetConfig(shipped())
	if got := census(tb.Grants(begin), byPool); got["low/"] != 6 {
		t.Errorf("granted %v after the pause", got)
	}
}

func TestAnAskThatNobodyCouldGrantIsRefused(t *testing.T) {
	t.Parallel()
	tb := NewTable(shipped())
	for name, a := range map[string]Ask{
		"no vendor":    {ID: 1, Lane: chat.High},
		"empty vendor": {ID: 1, Lane: chat.High, Vendors: []string{""}},
		"no lane":      {ID: 1, Vendors: []string{"a"}},
	} {
		if err := tb.Join(a, begin); err == nil || errors.Is(err, ErrCrowded) || tb.Waiting() != 0 {
			t.Errorf("%s: err = %v, %d wait", name, err, tb.Waiting())
		}
	}
}
