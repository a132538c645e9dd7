package control

import (
	"testing"
)

// Permits above a limit that was lowered are nobody's silence.
func TestALowerLimitIsNoCharge(t *testing.T) {
	b := newBare(5)
	b.pass(tickEvery)
	b.full("d", 5, []hold{{ID: 1, Vendor: "a"}, {ID: 2, Vendor: "a"}}, 7)
	if err := (Config{Gate: permits(map[string]int{"a": 1}), Quotas: map[string]int{"a": 2}, Node: "c"}).Validate(); err != nil {
		t.Fatal(err)
	}
	b.setLimits(permits(map[string]int{"a": 1}), map[string]int{"a": 2}, b.at)
	for range 20 {
		b.pass(tickEvery)
		b.full("d", 5, []hold{{ID: 1, Vendor: "a"}, {ID: 2, Vendor: "a"}}, 7)
		if due := b.chargeDue(b.at); due != nil {
			t.Fatalf("charge = %v, though nobody is silent", due)
		}
		if n := b.grants("d"); n != 0 {
			t.Fatalf("%d granted with 2 in use of 1", n)
		}
	}
	b.full("d", 5, []hold{{ID: 1, Vendor: "a"}}, 7)
	if n := b.grants("d"); n != 0 {
		t.Fatalf("%d granted with 1 in use of 1", n)
	}
	b.full("d", 5, nil, 7)
	if n := b.grants("d"); n != 1 {
		t.Errorf("%d granted when all had ended, want 1", n)
	}
}
