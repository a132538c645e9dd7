package gate

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/internal/chat"
)

var testAges = map[chat.Lane]time.Duration{chat.Normal: 20 * time.Second, chat.Low: 20 * time.Second}

// limited is the rules with these permits, and the ages above.
func limited(limits map[string]int) Config {
	cfg := Config{Vendors: map[string]Vendor{}, Lanes: map[chat.Lane]Lane{}}
	for name, limit := range limits {
		cfg.Vendors[name] = Vendor{Limit: limit}
	}
	for lane, age := range testAges {
		cfg.Lanes[lane] = Lane{Age: age}
	}
	return cfg
}

// oneByOne grants through a single permit and returns the tickets in their order.
func oneByOne(t *testing.T, tb *Table, now time.Time) []string {
	t.Helper()
	tb.SetConfig(limited(map[string]int{"a": 1}))
	var all []string
	for tb.Waiting() > 0 {
		granted := tb.Grants(now)
		if len(granted) != 1 {
			t.Fatalf("after %v: granted %d, want one of the %d who wait", all, len(granted), tb.Waiting())
		}
		g := granted[0]
		all = append(all, g.Ask.Ticket)
		tb.Release(g.Permit.ID, now)
		tb.EndTurn(g.Ask.Tenant, g.Ask.Session, g.Ask.Ticket)
	}
	return all
}

func TestOrderOfGrants(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	for name, c := range map[string]struct {
		asks []Ask
		now  time.Time
		want []string
	}{
		"lanes, best first": {
			asks: []Ask{
				{Ticket: "batch", Lane: chat.Batch, AcceptedAt: at(0)}, {Ticket: "deferred", Lane: chat.Deferred, AcceptedAt: at(1)},
				{Ticket: "low", Lane: chat.Low, AcceptedAt: at(2)}, {Ticket: "normal", Lane: chat.Normal, AcceptedAt: at(3)},
				{Ticket: "high", Lane: chat.High, AcceptedAt: at(4)},
			},
			now: at(5), want: []string{"high", "normal", "low", "deferred", "batch"},
		},
		"in a lane, first come": {
			asks: []Ask{{Ticket: "2", Lane: chat.Low, AcceptedAt: at(2)}, {Ticket: "1", Lane: chat.Low, AcceptedAt: at(1)}},
			now:  at(5), want: []string{"1", "2"},
		},
		"low has not risen a millisecond early": {
			asks: []Ask{{Ticket: "low", Lane: chat.Low, AcceptedAt: at(0)}, {Ticket: "normal", Lane: chat.Normal, AcceptedAt: at(19)}},
			now:  at(20).Add(-time.Millisecond), want: []string{"normal", "low"},
		},
		"low rises by one after its age": {
			asks: []Ask{{Ticket: "low", Lane: chat.Low, AcceptedAt: at(0)}, {Ticket: "normal", Lane: chat.Normal, AcceptedAt: at(19)}},
			now:  at(20), want: []string{"low", "normal"},
		},
		"low rises by two, and no further than high": {
			asks: []Ask{{Ticket: "low", Lane: chat.Low, AcceptedAt: at(0)}, {Ticket: "high", Lane: chat.High, AcceptedAt: at(-1)}},
			now:  at(400), want: []string{"high", "low"},
		},
		"batch without an age never rises": {
			asks: []Ask{{Ticket: "batch", Lane: chat.Batch, AcceptedAt: at(0)}, {Ticket: "low", Lane: chat.Low, AcceptedAt: at(86_000)}},
			now:  at(86_400), want: []string{"low", "batch"},
		},
		"a step goes before all new work": {
			asks: []Ask{{Ticket: "high", Lane: chat.High, AcceptedAt: at(0)}, {Ticket: "step", Lane: chat.Batch, AcceptedAt: at(9), Step: true}},
			now:  at(9), want: []string{"step", "high"},
		},
		"a session goes by seq, whenever its tickets were accepted": {
			asks: []Ask{{Ticket: "2", Session: "s", Seq: 2, Lane: chat.Low, AcceptedAt: at(0)}, {Ticket: "1", Session: "s", Seq: 1, Lane: chat.Low, AcceptedAt: at(1)}},
			now:  at(2), want: []string{"1", "2"},
		},
		"urgent goes first in its session": {
			asks: []Ask{{Ticket: "1", Session: "s", Seq: 1, Lane: chat.Low, AcceptedAt: at(0)}, {Ticket: "2", Session: "s", Seq: 2, Lane: chat.High, Urgent: true, AcceptedAt: at(1)}},
			now:  at(2), want: []string{"2", "1"},
		},
		"the one in front takes the best rank behind it": {
			asks: []Ask{
				{Ticket: "front", Session: "s", Seq: 1, Lane: chat.Low, AcceptedAt: at(0)},
				{Ticket: "behind", Session: "s", Seq: 2, Lane: chat.High, AcceptedAt: at(5)},
				{Ticket: "other", Session: "o", Seq: 1, Lane: chat.Normal, AcceptedAt: at(0)},
			},
			now: at(6), want: []string{"front", "behind", "other"},
		},
		"a batch's session is only a label": {
			asks: []Ask{
				{Ticket: "batch", Session: "s", Seq: 1, Lane: chat.Batch, AcceptedAt: at(0)},
				{Ticket: "low", Session: "s", Seq: 9, Lane: chat.Low, AcceptedAt: at(5)},
			},
			now: at(6), want: []string{"low", "batch"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tb := NewTable(limited(nil))
			for i, a := range c.asks {
				a.ID, a.Vendors = uint64(i+1), []string{"a"}
				if a.Session == "" {
					a.Session = a.Ticket
				}
				if err := tb.Join(a, begin); err != nil {
					t.Fatal(err)
				}
			}
			if got := oneByOne(t, tb, c.now); !slices.Equal(got, c.want) {
				t.Errorf("granted %v, want %v", got, c.want)
			}
		})
	}
}

func TestTheFirstVendorWithRoomIsTaken(t *testing.T) {
	t.Parallel()
	tb := NewTable(limited(map[string]int{"a": 1, "b": 2, "unasked": 5}))
	for i := range uint64(4) {
		if err := tb.Join(Ask{ID: i, Ticket: fmt.Sprint(i), Session: fmt.Sprint(i), Lane: chat.High, Seq: i, Vendors: []string{"a", "b"}}, begin); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, g := range tb.Grants(begin) {
		got = append(got, g.Permit.Vendor)
	}
	if want := []string{"a", "b", "b"}; !slices.Equal(got, want) || tb.Waiting() != 1 {
		t.Errorf("granted at %v with %d left, want %v and 1", got, tb.Waiting(), want)
	}
}

func TestALowerLimitRevokesNothingAndGrantsNothing(t *testing.T) {
	t.Parallel()
	tb := NewTable(limited(map[string]int{"a": 3}))
	join := func(id uint64) {
		if err := tb.Join(Ask{ID: id, Session: fmt.Sprint(id), Lane: chat.High, Vendors: []string{"a"}}, begin); err != nil {
			t.Fatal(err)
		}
	}
	for id := range uint64(4) {
		join(id)
	}
	granted := tb.Grants(begin)
	tb.SetConfig(limited(map[string]int{"a": 1}))
	for i, g := range granted {
		used, limit := tb.InUse("a", begin)
		if used != 3-i || limit != 1 || len(tb.Grants(begin)) > 0 {
			t.Fatalf("%d of %d in use with %d to come back, or one was granted above the limit", used, limit, 3-i)
		}
		tb.Release(g.Permit.ID, begin)
	}
	if got := tb.Grants(begin); len(got) != 1 {
		t.Errorf("granted %d of the lower limit, want 1", len(got))
	}
	tb.SetConfig(limited(nil))
	join(9)
	if got := tb.Grants(begin); len(got) > 0 {
		t.Errorf("a vendor without a limit granted %v", got)
	}
}

func TestAFullTableTurnsAway(t *testing.T) {
	t.Parallel()
	tb := NewTable(limited(nil))
	for id := range uint64(MaxWaiters) {
		if err := tb.Join(Ask{ID: id, Lane: chat.Batch, Vendors: []string{"a"}}, begin); err != nil {
			t.Fatal(err)
		}
	}
	if err := tb.Join(Ask{ID: MaxWaiters, Lane: chat.Batch, Vendors: []string{"a"}}, begin); !errors.Is(err, ErrCrowded) {
		t.Errorf("err = %v, want ErrCrowded", err)
	}
	tb.Leave(0)
	if err := tb.Join(Ask{ID: MaxWaiters, Lane: chat.Batch, Vendors: []string{"a"}}, begin); err != nil {
		t.Errorf("a place that became free is not given: %v", err)
	}
}

func TestPlaceAndBehindCountThoseWhoComeFirst(t *testing.T) {
	t.Parallel()
	tb := NewTable(limited(nil))
	for i, a := range []Ask{
		{Ticket: "step", Lane: chat.Batch, AcceptedAt: begin, Step: true},
		{Ticket: "high", Lane: chat.High, AcceptedAt: begin.Add(3 * time.Second)},
		{Ticket: "normal", Lane: chat.Normal, AcceptedAt: begin.Add(time.Second)},
		{Ticket: "low", Lane: chat.Low, AcceptedAt: begin},
	} {
		a.ID, a.Session, a.Vendors = uint64(i+1), a.Ticket, []string{"a"}
		if err := tb.Join(a, begin); err != nil {
			t.Fatal(err)
		}
	}
	for ticket, want := range map[string]int{"step": 1, "high": 2, "normal": 3, "low": 4} {
		if got, ok := tb.Place(ticket, begin.Add(4*time.Second)); got != want || !ok {
			t.Errorf("place of %s = %d, %v; want %d", ticket, got, ok, want)
		}
	}
	if _, ok := tb.Place("nobody", begin); ok {
		t.Error("a ticket that does not wait has a place")
	}
	for lane, want := range map[chat.Lane]int{chat.High: 3, chat.Normal: 4, chat.Low: 5, chat.Batch: 5} {
		if got := tb.Behind(lane, begin.Add(4*time.Second)); got != want {
			t.Errorf("behind %s = %d, want %d", lane, got, want)
		}
	}
	if got, ok := tb.Place("low", begin.Add(20*time.Second)); got != 3 || !ok {
		t.Errorf("place of low after its age = %d, %v; want 3", got, ok)
	}
}
