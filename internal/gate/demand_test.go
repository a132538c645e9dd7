package gate

import (
	"fmt"
	"reflect"
	"testing"

	"sluice/internal/chat"
)

// TestDemandsNameWhoCrowdsAndWhoWaits: permits by tenant and lane, most first, waiters by the
// vendor that they wish for first; a permit that is back is not told any more.
func TestDemandsNameWhoCrowdsAndWhoWaits(t *testing.T) {
	t.Parallel()
	tb := NewTable(limited(map[string]int{"a": 3, "b": 1}))
	id := uint64(0)
	join := func(tenant string, lane chat.Lane, vendors ...string) {
		t.Helper()
		id++
		ask := Ask{ID: id, Tenant: tenant, Session: fmt.Sprint(id), Ticket: fmt.Sprint(id), Lane: lane, AcceptedAt: begin, Vendors: vendors}
		if err := tb.Join(ask, begin); err != nil {
			t.Fatal(err)
		}
	}
	join("shop", chat.High, "a")
	first := tb.Grants(begin)
	join("shop", chat.High, "a")
	join("demo", chat.Normal, "a", "b")
	tb.Grants(begin)
	tb.Adopt(Permit{ID: 99, Vendor: "b", Lane: chat.Low})
	join("demo", chat.Normal, "a", "b")
	join("demo", chat.Low, "b", "a")
	tb.Grants(begin)
	want := map[string]Demand{
		"a": {Crowd: []Occupant{{"shop", chat.High, 2}, {"demo", chat.Normal, 1}}, Waiters: map[chat.Lane]int{chat.Normal: 1}},
		"b": {Crowd: []Occupant{{"", chat.Low, 1}}, Waiters: map[chat.Lane]int{chat.Low: 1}},
	}
	if got := tb.Demands(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	tb.Release(first[0].Permit.ID, begin)
	if got := tb.Demands()["a"].Crowd; !reflect.DeepEqual(got, []Occupant{{"demo", chat.Normal, 1}, {"shop", chat.High, 1}}) {
		t.Errorf("after a release: %v", got)
	}
	for i := range 2 * maxCrowd {
		tb.Adopt(Permit{ID: uint64(100 + i), Vendor: "b", Tenant: fmt.Sprint("tenant-", i), Lane: chat.Batch})
	}
	if got := len(tb.Demands()["b"].Crowd); got != maxCrowd {
		t.Errorf("%d are named, want %d", got, maxCrowd)
	}
}
