package chat

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestATicketKeepsItsFirstAndItsLastSteps(t *testing.T) {
	t.Parallel()
	ticket := Ticket{AcceptedAt: noon}
	for i := range 100 {
		before := ticket
		ticket.Note(Step{At: noon.Add(time.Duration(i) * time.Second), What: StepCall, MS: int64(i)})
		if len(before.Steps) > 0 && before.Steps[len(before.Steps)-1].MS != int64(i-1) {
			t.Fatal("a copy changed with the ticket")
		}
	}
	if len(ticket.Steps) != MaxSteps || ticket.Skipped != 100-MaxSteps {
		t.Fatalf("%d steps, %d skipped", len(ticket.Steps), ticket.Skipped)
	}
	for i, s := range ticket.Steps {
		want := i
		if i >= MaxSteps/2 {
			want = 100 - MaxSteps + i
		}
		if s.MS != int64(want) {
			t.Errorf("step %d is the %dth, want the %dth", i, s.MS, want)
		}
	}
}

func TestMarksAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) TicketMark {
			at := time.Unix(0, rapid.Int64Range(0, 1<<60).Draw(t, name))
			return MarkOf(&Ticket{ID: "t_" + rapid.StringMatching(`[A-Z2-7]{26}`).Draw(t, name+" id"), AcceptedAt: at})
		}
		a, b := draw("a"), draw("b")
		if got, ok := ParseMark(a.String()); !ok || got != a {
			t.Fatalf("%v is read as %v (%v)", a, got, ok)
		}
		if a.Compare(b) != -b.Compare(a) || (a.Compare(b) == 0) != (a == b) || a.At.After(b.At) && a.Compare(b) >= 0 {
			t.Fatalf("%v and %v compare as %d and %d", a, b, a.Compare(b), b.Compare(a))
		}
	})
	for _, bad := range []string{"", ".", "1.", "x.t_AAAAAAAAAAAAAAAAAAAAAAAAAA", "-1.t_AAAAAAAAAAAAAAAAAAAAAAAAAA", "99999999999999999.t_AAAAAAAAAAAAAAAAAAAAAAAAAA", "1.t_a"} {
		if _, ok := ParseMark(bad); ok {
			t.Errorf("%q is taken for a mark", bad)
		}
	}
}

func TestAFilterTakesWhatItSays(t *testing.T) {
	t.Parallel()
	ticket := Ticket{
		ID: "t", Tenant: "demo", Session: "s", Lane: Normal, Status: Accepting, AcceptedAt: noon.Add(900 * time.Nanosecond),
	}
	micro := noon.Truncate(time.Microsecond)
	ended := ticket
	ended.Status, ended.Route, ended.Reason = Answered, RouteTemplate, ReasonOverdue
	for i, c := range []struct {
		filter      TicketFilter
		open, ended bool
	}{
		{TicketFilter{}, true, true},
		{TicketFilter{Status: Queued}, true, false},
		{TicketFilter{Life: LifeOpen}, true, false},
		{TicketFilter{Life: LifeEnded}, false, true},
		{TicketFilter{Route: RouteTemplate, Reason: ReasonOverdue}, false, true},
		{TicketFilter{Tenant: "demo", Session: "s", Lane: Normal}, true, true},
		{TicketFilter{Lane: High}, false, false},
		{TicketFilter{From: MarkOf(&ticket).At}, true, true},
		{TicketFilter{From: MarkOf(&ticket).At.Add(time.Microsecond)}, false, false},
		{TicketFilter{To: micro}, false, false},
		{TicketFilter{To: MarkOf(&ticket).At.Add(time.Microsecond)}, true, true},
	} {
		if got := []bool{c.filter.Takes(&ticket), c.filter.Takes(&ended)}; !slices.Equal(got, []bool{c.open, c.ended}) {
			t.Errorf("%d: %v, want %v, %v", i, got, c.open, c.ended)
		}
		if c.open && !c.filter.Open() || c.ended && !c.filter.Ended() {
			t.Errorf("%d: Open %v, Ended %v", i, c.filter.Open(), c.filter.Ended())
		}
	}
}
