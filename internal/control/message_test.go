package control

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// longAsk is an ask whose every name is as long as the contract allows, or longer.
func longAsk() gate.Ask {
	return gate.Ask{
		Tenant: strings.Repeat("t", 64), Session: strings.Repeat("s", 200), Ticket: chat.NewTicketID(),
		Lane: chat.Normal, Seq: 12345, AcceptedAt: time.Now(),
		Vendors: []string{strings.Repeat("a", 32), strings.Repeat("b", 32), strings.Repeat("c", 32)},
	}
}

func TestReportsOfManyWaitersStayBelowHalfAMegabyte(t *testing.T) {
	now := time.Now()
	h := newHolder("n", now)
	h.validUntil = now.Add(time.Hour)
	h.meet(1, "c", now)
	for range gate.MaxWaiters / 10 {
		h.ask(longAsk())
	}
	told := map[uint64]bool{}
	for _, r := range h.next(now) {
		body, err := encodeReport(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(body) > 512<<10 {
			t.Errorf("a report takes %d bytes", len(body))
		}
		got, err := decodeReport(body)
		if err != nil {
			t.Fatal(err)
		}
		if r.Full && len(got.Waits) != gate.MaxWaiters/10 {
			t.Errorf("a full report lists %d of %d waiters", len(got.Waits), gate.MaxWaiters/10)
		}
		for _, a := range got.Asks {
			told[a.ID] = true
		}
	}
	if len(told) != gate.MaxWaiters/10 {
		t.Errorf("%d of %d waiters were told", len(told), gate.MaxWaiters/10)
	}
}

func TestFullListOfFiftyThousandWaitersIsOneMessage(t *testing.T) {
	r := report{Node: "n", Full: true}
	for i := range uint64(gate.MaxWaiters) {
		r.Waits = append(r.Waits, 1<<40+i*37)
	}
	body, err := encodeReport(r)
	if err != nil || len(body) > 512<<10 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	got, err := decodeReport(body)
	if err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("the list did not come through: %v", err)
	}
}

func FuzzDecodeReport(f *testing.F) {
	f.Add([]byte(`{"node":"n","n":3,"full":true,"waits":[4,1,2],"holds":[{"id":1}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decodeReport(body)
		if err != nil {
			return
		}
		s := newServer(Config{Gate: permits(map[string]int{"a": 1}), Node: "c", Hard: time.Minute}, 1, time.Now(), time.Now())
		s.expect(nil, nil)
		r.Epoch = 1
		s.handle(r, time.Now())
		s.tick(time.Now())
	})
}
