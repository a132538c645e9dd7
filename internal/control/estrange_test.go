package control

import (
	"testing"
	"time"
)

// cutOff returns a server with both permits at d, which has been silent for 20 s while
// its broker dropped the connection, and with the charge for a third written.
func cutOff(t *testing.T) *bare {
	t.Helper()
	b := newBare(5)
	b.pass(tickEvery)
	b.full("d", 5, []hold{{ID: 1, Vendor: "a"}, {ID: 2, Vendor: "a"}})
	b.full("e", 5, nil, 1, 2, 3)
	for silence := time.Duration(0); silence < 20*time.Second; silence += probeEvery {
		b.pass(probeEvery)
		b.full("e", 5, nil, 1, 2, 3)
		b.probed("d", silence > 12*time.Second, false, b.at) // nobody listens from then on
		if due := b.chargeDue(b.at); due != nil {
			b.charged(due, b.at)
		}
	}
	if b.nodes["d"] == nil {
		t.Fatal("a node that is cut off was taken for dead")
	}
	if used, _ := b.table.InUse("a", b.at); used != 3 {
		t.Fatalf("%d in use, want the 2 of the silent node and 1 beyond the limit", used)
	}
	return b
}

// Its vendors may count the calls of a node that was cut off for as long again.
func TestWhatASilentNodeHeldIsCountedAfterItIsHeardAgain(t *testing.T) {
	b := cutOff(t)
	healed := b.at
	b.full("d", 5, nil)
	b.n++
	b.handle(report{Node: "d", N: b.n, Epoch: 5, Released: []uint64{1, 2}}, b.at)
	for used := 3; used == 3; {
		if b.pass(tickEvery); b.at.Sub(healed) > time.Minute {
			t.Fatal("its permits never came back")
		}
		b.full("d", 5, nil)
		b.full("e", 5, nil, 1, 2, 3)
		used, _ = b.table.InUse("a", b.at)
	}
	if took := b.at.Sub(healed); took < 20*time.Second || took > 22*time.Second {
		t.Errorf("its permits were back after %s, want the 20 s that it was silent", took)
	}
	if len(b.nodes) != 2 {
		t.Errorf("%d nodes are left, want d and e", len(b.nodes))
	}
}

func TestANodeThatWasHeardInTimeKeepsWhatItHolds(t *testing.T) {
	b := newBare(5)
	b.pass(tickEvery)
	b.full("d", 5, []hold{{ID: 1, Vendor: "a"}})
	b.pass(lostAfter - tickEvery)
	b.full("d", 5, []hold{{ID: 1, Vendor: "a"}})
	b.n++
	b.handle(report{Node: "d", N: b.n, Epoch: 5, Released: []uint64{1}}, b.at)
	if used, _ := b.table.InUse("a", b.at); used != 0 {
		t.Errorf("%d in use after the release", used)
	}
}

// A broker on a busy machine answers one probe too late: that proves no cut.
func TestOneLateProbeDoesNotKeepADeadNodesPermits(t *testing.T) {
	b := newBare(5)
	b.pass(tickEvery)
	b.full("d", 5, []hold{{ID: 1, Vendor: "a"}})
	b.pass(probeAfter)
	b.probed("d", false, false, b.at)
	b.pass(probeEvery)
	b.probed("d", false, false, b.at)
	b.pass(probeEvery)
	b.probed("d", true, false, b.at)
	b.pass(silentAfter)
	if b.nodes["d"] != nil {
		t.Error("a dead node is kept for one late answer")
	}
}
