package gate

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
)

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// trial does the same to a table and to the reference.
type trial struct {
	table *Table
	slow  *reference
	now   time.Time
	asks  uint64
	given []Permit       // every permit ever granted, those that are back too
	runs  map[string]Ask // who has each session's turn
}

// TestTableDecidesAsTheSlowReference plays random histories of everything that may
// happen to a table. Each time the two must grant the same permits in the same order;
// what must hold whatever the order is checked by itself.
func TestTableDecidesAsTheSlowReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawConfig(t)
		tr := &trial{table: NewTable(cfg), slow: newReference(cfg), now: begin, runs: map[string]Ask{}}
		t.Repeat(map[string]func(*rapid.T){
			"":         tr.check,
			"join":     tr.join,
			"join 2":   tr.join,
			"leave":    tr.leave,
			"release":  tr.release,
			"end turn": tr.endTurn,
			"rules":    tr.limit,
			"clock": func(t *rapid.T) {
				tr.now = tr.now.Add(time.Duration(rapid.IntRange(0, 45_000).Draw(t, "ms")) * time.Millisecond)
			},
			"grant": tr.grant,
		})
		tr.empty(t)
	})
}

func drawConfig(t *rapid.T) Config {
	cfg := Config{Vendors: map[string]Vendor{}, Lanes: map[chat.Lane]Lane{}, Weights: map[string]float64{"x": 2, "y": 0.5}}
	for _, v := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID[string]).Draw(t, "vendors") {
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		cfg.Vendors[v] = Vendor{
			Limit: limit, Elastic: rapid.IntRange(0, limit-1).Draw(t, "elastic"),
			Models: map[string]int{"strong": rapid.IntRange(0, limit).Draw(t, "permits of strong")},
		}
	}
	for _, lane := range chat.Lanes() {
		cfg.Lanes[lane] = Lane{
			Age:     rapid.SampledFrom([]time.Duration{0, 7 * time.Second, 20 * time.Second}).Draw(t, "age"),
			Elastic: rapid.Bool().Draw(t, "elastic"),
			Share:   rapid.SampledFrom([]float64{0, 0, 0.5, 1}).Draw(t, "share"),
			Floor:   rapid.SampledFrom([]float64{0, 0, 0.25}).Draw(t, "floor"),
			Paused:  rapid.IntRange(0, 9).Draw(t, "paused") == 0,
		}
	}
	return cfg
}

// limit puts other limits in force; ages stay, for who waits keeps what it has.
func (tr *trial) limit(t *rapid.T) {
	cfg := drawConfig(t)
	for lane, l := range cfg.Lanes {
		l.Age = tr.slow.cfg.Lanes[lane].Age
		cfg.Lanes[lane] = l
	}
	before := tr.uses()
	tr.table.SetConfig(cfg)
	tr.slow.cfg = cfg
	if after := tr.uses(); !maps.Equal(before, after) {
		t.Fatalf("new limits changed what is in use from %v to %v", before, after)
	}
}

func (tr *trial) join(t *rapid.T) {
	tr.asks++
	session := rapid.SampledFrom([]string{"s1", "s2", "s3", "s4"}).Draw(t, "session")
	a := Ask{
		ID: tr.asks, Tenant: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tenant"), Session: session,
		Ticket: fmt.Sprintf("t%d", tr.asks), Lane: rapid.SampledFrom(chat.Lanes()).Draw(t, "lane"),
		Urgent: rapid.IntRange(0, 4).Draw(t, "urgent") == 0, Seq: uint64(rapid.IntRange(1, 6).Draw(t, "seq")),
		AcceptedAt: tr.now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * 10 * time.Second),
		Model:      rapid.SampledFrom([]string{"strong", "light"}).Draw(t, "model"),
		Vendors:    rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID[string]).Draw(t, "vendors"),
		Step:       rapid.IntRange(0, 5).Draw(t, "step") == 0,
	}
	if err := tr.table.Join(a, tr.now); err != nil {
		t.Fatal(err)
	}
	if err := tr.table.Join(a, tr.now); err == nil {
		t.Fatal("a waiter joined twice")
	}
	tr.slow.join(a, tr.now)
}

func (tr *trial) leave(t *rapid.T) {
	id := rapid.Uint64Range(1, tr.asks+1).Draw(t, "waiter")
	tr.table.Leave(id)
	tr.slow.leave(id)
}

func (tr *trial) release(t *rapid.T) {
	if len(tr.given) == 0 {
		t.Skip("nothing granted yet")
	}
	p := rapid.SampledFrom(tr.given).Draw(t, "permit")
	_, held := tr.slow.held[p.ID]
	back, ok := tr.table.Release(p.ID, tr.now)
	if ok != held || (ok && back != p) {
		t.Fatalf("release of %+v = %+v, %v; held %v", p, back, ok, held)
	}
	delete(tr.slow.held, p.ID)
}

func (tr *trial) endTurn(t *rapid.T) {
	if len(tr.slow.turns) == 0 {
		t.Skip("no turn is taken")
	}
	key := rapid.SampledFrom(slices.Sorted(maps.Keys(tr.slow.turns))).Draw(t, "session")
	a := tr.runs[key]
	tr.table.EndTurn(a.Tenant, a.Session, "a ticket that has no turn")
	if rapid.Bool().Draw(t, "own") {
		tr.table.EndTurn(a.Tenant, a.Session, tr.slow.turns[key])
		tr.slow.setTurn(key, "")
	}
}

func (tr *trial) grant(t *rapid.T) {
	used, turns := tr.uses(), maps.Clone(tr.slow.turns)
	got, want := tr.table.Grants(tr.now), tr.slow.grants(tr.now)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("granted %v,\nwant    %v", got, want)
	}
	for _, g := range got {
		used[g.Permit.Vendor]++
		if limit := tr.slow.cfg.Vendors[g.Permit.Vendor].Limit; used[g.Permit.Vendor] > limit {
			t.Fatalf("%+v is number %d of %d", g.Permit, used[g.Permit.Vendor], limit)
		}
		if key := g.Ask.sessionKey(); g.Ask.needsTurn() {
			if turns[key] != "" {
				t.Fatalf("%s runs while its session's turn is %s's", g.Ask.Ticket, turns[key])
			}
			turns[key] = g.Ask.Ticket
			tr.runs[key] = g.Ask
		}
		tr.given = append(tr.given, g.Permit)
	}
	if more := tr.table.Grants(tr.now); len(more) > 0 {
		t.Fatalf("a second look grants %v more", more)
	}
	tr.nobodyIsStranded(t)
}

// nobodyIsStranded looks for a waiter whose turn is free, whom nobody of its own
// session precedes, and who waits although one of its vendors has room.
func (tr *trial) nobodyIsStranded(t *rapid.T) {
	for _, c := range tr.slow.candidates() {
		t.Fatalf("%+v waits while there is room", c)
	}
}

func (tr *trial) uses() map[string]int {
	all := map[string]int{}
	for _, v := range []string{"a", "b", "c"} {
		all[v], _ = tr.table.InUse(v, tr.now)
	}
	return all
}

func (tr *trial) check(t *rapid.T) {
	for v, used := range tr.uses() {
		if want := tr.slow.used(v); used != want {
			t.Fatalf("vendor %s has %d in use, want %d", v, used, want)
		}
	}
	if got, want := tr.table.Waiting(), len(tr.slow.waiting); got != want {
		t.Fatalf("%d wait, want %d", got, want)
	}
}

// empty gives everything back, as often as not twice, lets the rest be granted and
// expects a table that holds nothing.
func (tr *trial) empty(t *rapid.T) {
	open := Config{Vendors: map[string]Vendor{"a": {Limit: 1}, "b": {Limit: 1}, "c": {Limit: 1}}, Lanes: map[chat.Lane]Lane{}}
	for lane, l := range tr.slow.cfg.Lanes {
		open.Lanes[lane] = Lane{Age: l.Age}
	}
	tr.table.SetConfig(open)
	tr.slow.cfg = open
	for rounds := 0; len(tr.slow.waiting)+len(tr.slow.held)+len(tr.slow.turns) > 0; rounds++ {
		if rounds > 1000 {
			t.Fatalf("%d waiters are never granted", tr.table.Waiting())
		}
		for _, p := range tr.given {
			tr.table.Release(p.ID, tr.now)
			tr.table.Release(p.ID, tr.now)
			delete(tr.slow.held, p.ID)
		}
		for key, ticket := range tr.slow.turns {
			tr.table.EndTurn(tr.runs[key].Tenant, tr.runs[key].Session, ticket)
			tr.slow.setTurn(key, "")
		}
		tr.grant(t)
	}
	tr.check(t)
	if n := len(tr.table.permits) + len(tr.table.ended) + len(tr.table.waiters) + len(tr.table.tickets) + len(tr.table.sessions) + len(tr.table.risers); n > 0 {
		t.Fatalf("something is left in %+v", tr.table)
	}
	for name, a := range tr.table.accounts {
		if n := a.inUse + len(a.pools) + len(a.lanes) + len(a.models) + a.retries; n > 0 {
			t.Fatalf("vendor %s keeps %+v", name, a)
		}
	}
	for _, b := range tr.table.bands {
		if n := len(b.classes) + len(b.waits) + b.count; n > 0 {
			t.Fatalf("a band keeps %+v", b)
		}
	}
}
