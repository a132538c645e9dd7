package gate

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// entry is what a naive exact window knows of a call, or of what one used beyond its
// reservation.
type entry struct {
	at     time.Time
	tokens int
}

// purse plays random histories against a token window and keeps every entry for ever.
type purse struct {
	window *TokenWindow
	limit  int
	now    time.Time
	all    []*entry
	open   map[uint64]*entry // not settled yet
	last   uint64
	beyond bool // something was settled above its reservation, or the limit was lowered
}

// TestTokenWindowAgainstAnExactOne: no call is admitted that the exact window of a minute
// would refuse, and none is refused that one of a minute and a second would admit; what
// is settled is what counts; without overspending no minute holds more than the limit.
func TestTokenWindowAgainstAnExactOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := &purse{limit: rapid.IntRange(0, 1000).Draw(t, "limit"), now: begin, open: map[uint64]*entry{}}
		p.window = NewTokenWindow(p.limit)
		t.Repeat(map[string]func(*rapid.T){
			"":        p.check,
			"call":    p.call,
			"call 2":  p.call,
			"settle":  p.settle,
			"drop":    p.drop,
			"clock":   p.clock,
			"limit":   p.setLimit,
			"restore": p.restore,
		})
		p.minutes(t)
		p.settleAll(t)
	})
}

// sum adds up what counts in the length up to now.
func (p *purse) sum(now time.Time, length time.Duration) int {
	n := 0
	for _, e := range p.all {
		if !e.at.After(now) && now.Sub(e.at) < length {
			n += e.tokens
		}
	}
	return n
}

func (p *purse) call(t *rapid.T) {
	estimate := rapid.IntRange(0, 600).Draw(t, "estimate")
	reserved := p.window.Clamp(estimate)
	if p.limit > 0 && reserved != min(estimate, p.limit) {
		t.Fatalf("%d of %d reserve %d", estimate, p.limit, reserved)
	}
	room, next := p.window.Room(p.now, estimate), p.window.NextAt(p.now, estimate)
	if exact := p.sum(p.now, time.Minute); room && p.limit > 0 && exact+reserved > p.limit {
		t.Fatalf("room for %d beside %d of %d", reserved, exact, p.limit)
	}
	if longer := p.sum(p.now, time.Minute+tokenPart); !room && longer+reserved <= p.limit {
		t.Fatalf("no room for %d beside %d of %d", reserved, longer, p.limit)
	}
	if room != next.Equal(p.now) || next.After(p.now.Add(time.Minute+tokenPart)) {
		t.Fatalf("room %v, but the next may go in %s", room, next.Sub(p.now))
	}
	if !room {
		return
	}
	p.last++
	p.window.Take(p.last, estimate, p.now)
	e := &entry{p.now, reserved}
	p.all, p.open[p.last] = append(p.all, e), e
}

func (p *purse) settle(t *rapid.T) { p.end(t, rapid.IntRange(-5, 700).Draw(t, "used"), false) }
func (p *purse) drop(t *rapid.T)   { p.end(t, 0, true) }

func (p *purse) end(t *rapid.T, used int, drop bool) {
	if len(p.open) == 0 {
		t.Skip("nothing is reserved")
	}
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(p.open))).Draw(t, "call")
	for range 2 { // the second time does nothing
		if drop {
			p.window.Drop(id)
		} else {
			p.window.Settle(id, used, p.now)
		}
	}
	p.book(id, max(used, 0))
}

// book does to the entries what the window should have done.
func (p *purse) book(id uint64, used int) {
	e := p.open[id]
	delete(p.open, id)
	if beyond := used - e.tokens; beyond > 0 {
		p.all = append(p.all, &entry{p.now, beyond})
		p.beyond = true
	}
	e.tokens = min(e.tokens, used)
}

// clock also forgets the reservations that have left: nobody can settle them. Those of
// the second in which they may leave are given up by the calls' own ends before.
func (p *purse) clock(t *rapid.T) {
	next := p.now.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond)
	for _, id := range slices.Sorted(maps.Keys(p.open)) {
		if next.Sub(p.open[id].at) < time.Minute {
			continue
		}
		if rapid.Bool().Draw(t, "ends in time") {
			p.window.Settle(id, 1, p.now)
			p.book(id, 1)
		}
		delete(p.open, id) // lost: it stays as reserved until it has left
	}
	p.now = next
}

func (p *purse) setLimit(t *rapid.T) {
	limit := rapid.IntRange(0, 1000).Draw(t, "limit")
	p.beyond = p.beyond || p.limit == 0 || (limit > 0 && limit < p.limit)
	p.limit = limit
	p.window.SetLimit(limit)
}

func (p *purse) restore(t *rapid.T) {
	shot := p.window.Snapshot(p.now)
	p.window = NewTokenWindow(p.limit)
	p.window.Restore(shot, p.now)
}

func (p *purse) check(t *rapid.T) {
	used, least, most := p.window.Used(p.now), p.sum(p.now, time.Minute), p.sum(p.now, time.Minute+tokenPart)
	if used < least || used > most {
		t.Fatalf("%d tokens count, want %d to %d", used, least, most)
	}
	reserved := 0
	for _, part := range p.window.spending.parts.parts {
		for _, n := range part.sum.open {
			if n < 0 {
				t.Fatalf("a reservation of %d", n)
			}
			reserved += n
		}
		if part.sum.used < 0 {
			t.Fatalf("a part holds %d", part.sum.used)
		}
	}
	if reserved > used {
		t.Fatalf("%d are reserved of %d that count", reserved, used)
	}
}

// minutes looks at every minute that ends with an entry: no other holds more.
func (p *purse) minutes(t *rapid.T) {
	if p.beyond || p.limit == 0 {
		return
	}
	for _, e := range p.all {
		if n := p.sum(e.at, time.Minute); n > p.limit {
			t.Fatalf("%d tokens in the minute up to %s, want at most %d", n, e.at.Sub(begin), p.limit)
		}
	}
}

// settleAll ends every call: what counts then is what was really used.
func (p *purse) settleAll(t *rapid.T) {
	for _, id := range slices.Sorted(maps.Keys(p.open)) {
		p.window.Settle(id, 7, p.now)
		p.book(id, 7)
	}
	p.check(t)
	for _, part := range p.window.spending.parts.parts {
		for id := range part.sum.open {
			if id > p.last {
				t.Fatalf("call %d never was", id)
			}
		}
	}
	if got := p.window.Used(p.now.Add(2 * time.Minute)); got != 0 {
		t.Fatalf("%d tokens count two minutes after the last call", got)
	}
}
