package control

import (
	"reflect"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// TestTheNextControllerKnowsWhoHoldsWhat: what a node tells of its permits names their
// tenants, and the sign of life tells every node.
func TestTheNextControllerKnowsWhoHoldsWhat(t *testing.T) {
	t.Parallel()
	b := newBare(2)
	b.full("one", 2, []hold{{ID: 1<<32 | 7, Vendor: "a", Tenant: "shop", Ticket: "t_1", Lane: chat.High, Age: time.Second}})
	b.full("two", 2, nil, 1)
	b.full("two", 2, nil, 1, 2)
	b.pass(tickEvery)
	want := map[string]gate.Demand{"a": {
		Crowd:   []gate.Occupant{{Tenant: "", Lane: chat.Batch, InUse: 1}, {Tenant: "shop", Lane: chat.High, InUse: 1}},
		Waiters: map[chat.Lane]int{chat.Batch: 1},
	}}
	if got := b.hello(b.at).Demands; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
