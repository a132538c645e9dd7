package control

import (
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// bare is a server and a clock, without anything between.
type bare struct {
	*server
	at time.Time
	n  uint64
}

func newBare(epoch uint64, nodes ...string) *bare {
	at := time.Unix(1_000_000, 0)
	b := &bare{at: at, server: newServer(Config{
		Gate: permits(map[string]int{"a": 2}), Quotas: map[string]int{"a": 3}, Node: "c", Hard: time.Minute,
	}, epoch, at, at)}
	b.expect(nodes, map[string]int{})
	return b
}

// pass lets time pass with the lease renewed.
func (b *bare) pass(d time.Duration) []string {
	b.at = b.at.Add(d)
	b.renewed(b.at)
	return b.tick(b.at)
}

func (b *bare) full(node string, epoch uint64, holds []hold, asks ...uint64) {
	b.n++
	r := report{Node: node, N: b.n, Epoch: epoch, Full: true, Holds: holds, Waits: asks}
	for _, id := range asks {
		r.Asks = append(r.Asks, gate.Ask{ID: id, Ticket: "t", Lane: chat.Batch, Vendors: []string{"a"}})
	}
	b.handle(r, b.at)
}

// grants counts what was granted to a node since the last look.
func (b *bare) grants(node string) int {
	m := b.post()[node]
	if m == nil {
		return 0
	}
	return len(m.Grants)
}

func TestReportForAFormerEpochIsNotTakenIn(t *testing.T) {
	b := newBare(5, "d")
	b.full("d", 4, nil)
	m := b.post()["d"]
	if m == nil || m.Ack != 0 || m.Epoch != 5 {
		t.Fatalf("answer = %+v, want the new epoch and no acknowledgement", m)
	}
	b.full("e", 5, nil, 1)
	b.pass(tickEvery)
	if n := b.grants("e"); n != 0 {
		t.Fatalf("%d permits were granted before d was known: a grant of epoch 4 may still reach it", n)
	}
	b.full("d", 5, nil)
	b.pass(tickEvery)
	if n := b.grants("e"); n != 1 {
		t.Errorf("%d permits were granted once all were known, want 1", n)
	}
}

func TestNothingIsGrantedAfterTheLease(t *testing.T) {
	b := newBare(5)
	b.pass(tickEvery)
	b.at = b.at.Add(1500 * time.Millisecond)
	b.full("d", 5, nil, 1)
	m := b.post()["d"]
	if m == nil || m.Ack != 1 || len(m.Grants) != 0 {
		t.Errorf("answer = %+v, want an acknowledgement and no grant", m)
	}
	b.at = b.at.Add(lapseGrace)
	b.full("d", 5, nil, 1)
	if m := b.post()["d"]; m != nil {
		t.Errorf("answer = %+v after the grace, want none", m)
	}
}

func TestNothingIsGrantedOnAChargeThatIsNotWritten(t *testing.T) {
	b := newBare(5)
	b.pass(tickEvery)
	b.full("d", 5, []hold{{ID: 1, Vendor: "a"}, {ID: 2, Vendor: "a"}})
	b.pass(silentAfter)
	b.probed("d", false, false, b.at)
	b.full("e", 5, nil, 1)
	b.pass(tickEvery)
	if n := b.grants("e"); n != 0 {
		t.Fatalf("%d permits were granted on a charge that nobody could read", n)
	}
	due := b.chargeDue(b.at)
	if due["a"] != 1 {
		t.Fatalf("charge = %v, want 1 of a", due)
	}
	b.charged(due, b.at)
	if n := b.grants("e"); n != 1 {
		t.Errorf("%d permits were granted on the charge, want 1", n)
	}
}

func TestOnlyProbesSinceTheLastReportCount(t *testing.T) {
	b := newBare(5)
	b.full("d", 5, []hold{{ID: 1, Vendor: "a"}})
	b.pass(probeAfter)
	b.at = b.at.Add(tickEvery)
	b.full("d", 5, []hold{{ID: 1, Vendor: "a"}})
	b.probed("d", true, false, b.at) // sent before that report
	if n := b.nodes["d"]; !n.absentSince.IsZero() {
		t.Error("a probe from before the last report made the node absent")
	}
}

func TestNodeThatWasSlowFirstIsGivenTheWholeTime(t *testing.T) {
	for name, slow := range map[string]bool{"gone at once": false, "paused before": true} {
		b := newBare(5)
		b.full("d", 5, []hold{{ID: 1, Vendor: "a"}})
		b.pass(probeAfter)
		if slow {
			b.probed("d", false, false, b.at)
		}
		b.pass(3 * time.Second)
		b.probed("d", true, false, b.at)
		b.pass(deadAfter - probeAfter - 3*time.Second + probeEvery)
		if _, there := b.nodes["d"]; there != slow {
			t.Errorf("%s: the node is still there: %v", name, there)
		}
	}
}

func TestGrantOfAFormerEpochIsIgnored(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	h := newHolder("n", now)
	h.validUntil = now.Add(time.Minute)
	h.meet(4, "c", now)
	w := h.ask(gate.Ask{Ticket: "t"})
	h.meet(5, "d", now)
	h.receive(mail{Epoch: 4, Grants: []grant{{ID: 4<<32 + 1, Ask: w.ask.ID, Vendor: "a"}}}, now)
	if len(h.holds) != 0 {
		t.Fatal("a grant of a former epoch was taken")
	}
	h.receive(mail{Epoch: 5, Grants: []grant{{ID: 5<<32 + 1, Ask: w.ask.ID, Vendor: "a"}}}, now.Add(grantAge+time.Millisecond))
	if len(h.holds) != 0 || len(h.released) != 1 {
		t.Fatal("a grant that is too old was taken, or not given back")
	}
	h.receive(mail{Epoch: 5, Grants: []grant{{ID: 5<<32 + 2, Ask: w.ask.ID, Vendor: "a", Stamp: time.Second}}}, now.Add(time.Second))
	if len(h.holds) != 1 {
		t.Error("a good grant was not taken")
	}
}

func TestHolderWithoutARegistrationTakesNothing(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	h := newHolder("n", now)
	if all := h.next(now); all != nil {
		t.Errorf("%d reports before the registration", len(all))
	}
	h.validUntil = now.Add(registerLimit)
	h.meet(4, "c", now)
	w := h.ask(gate.Ask{Ticket: "t"})
	late := now.Add(registerLimit)
	h.receive(mail{Epoch: 4, Grants: []grant{{ID: 4<<32 + 1, Ask: w.ask.ID, Vendor: "a", Stamp: registerLimit}}}, late)
	if len(h.holds) != 0 {
		t.Error("a grant was taken although no new controller would know of this node")
	}
}

// A process that was paused finds its vendors' time-outs passed: that says nothing of them.
func TestTheEndOfALostPermitTellsNothing(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	h := newHolder("n", now)
	h.validUntil = now.Add(time.Minute)
	h.meet(4, "c", now)
	w := h.ask(gate.Ask{Ticket: "t"})
	h.receive(mail{Epoch: 4, Grants: []grant{{ID: 4<<32 + 1, Ask: w.ask.ID, Vendor: "a"}}}, now)
	if h.expire(now.Add(lostAfter)) != 1 {
		t.Fatal("the permit is not lost")
	}
	if h.end(4<<32+1, gate.End{Outcome: gate.Failed}) || len(h.outcomes) != 0 {
		t.Errorf("told %v of a call whose permit was lost", h.outcomes)
	}
}
