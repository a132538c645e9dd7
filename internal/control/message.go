package control

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// report is what a node tells the controller: news at once, and everything that it
// holds and waits for each second or half second, so that nothing lost stays lost.
type report struct {
	Node  string        `json:"node"`
	N     uint64        `json:"n"`               // grows with each report; an older one tells nothing
	Epoch uint64        `json:"epoch,omitempty"` // of the controller that it is meant for
	Stamp time.Duration `json:"stamp"`           // of the node's own clock; grants carry it back
	Seen  uint64        `json:"seen,omitempty"`  // highest permit of this epoch that came in
	Bye   bool          `json:"bye,omitempty"`   // the node holds nothing and ends

	Asks     []gate.Ask `json:"asks,omitempty"`     // who began to wait, in full
	Left     []uint64   `json:"left,omitempty"`     // asks that wait no more
	Outcomes []outcome  `json:"outcomes,omitempty"` // how calls ended, told once: one that is lost counts for nothing
	Released []uint64   `json:"released,omitempty"` // permits that are back
	Ended    []uint64   `json:"ended,omitempty"`    // turns that are over

	Full  bool     `json:"full,omitempty"` // what follows is all there is
	Waits []uint64 `json:"waits,omitempty"`
	Holds []hold   `json:"holds,omitempty"`
	Turns []turn   `json:"turns,omitempty"`
}

// hold is a permit in use.
type hold struct {
	ID     uint64        `json:"id"`
	Vendor string        `json:"vendor"`
	Tenant string        `json:"tenant,omitempty"`
	Ticket string        `json:"ticket"`
	Lane   chat.Lane     `json:"lane"`
	Model  string        `json:"model,omitempty"`
	Pool   gate.Pool     `json:"pool,omitempty"`
	Retry  bool          `json:"retry,omitempty"`
	Age    time.Duration `json:"age"` // since it came
}

// outcome is how a permit's call ended.
type outcome struct {
	ID uint64 `json:"id"`
	gate.End
}

// turn is a session's turn; its id is that of the permit that came with it.
type turn struct {
	ID      uint64 `json:"id"`
	Tenant  string `json:"tenant"`
	Session string `json:"session"`
	Ticket  string `json:"ticket"`
}

// mail is what the controller tells one node.
type mail struct {
	Epoch   uint64    `json:"epoch"`
	Node    string    `json:"node"`           // the controller's
	Ack     uint64    `json:"ack,omitempty"`  // the report that was taken in; 0: none
	Want    bool      `json:"want,omitempty"` // tell everything: this controller does not know the node
	Missing []uint64  `json:"missing,omitempty"`
	Grants  []grant   `json:"grants,omitempty"`
	Refused []refused `json:"refused,omitempty"`
}

// refused is an ask that waits no more: it would wait in vain.
type refused struct {
	Ask uint64 `json:"ask"`
	gate.Refusal
}

// grant is a permit on its way.
type grant struct {
	ID     uint64        `json:"id"`
	Ask    uint64        `json:"ask"`
	Vendor string        `json:"vendor"`
	Pool   gate.Pool     `json:"pool,omitempty"`
	Turn   bool          `json:"turn,omitempty"`
	Stamp  time.Duration `json:"stamp"` // of the node's newest report
}

// hello is the controller's sign of life to all nodes.
type hello struct {
	Epoch  uint64              `json:"epoch"`
	Node   string              `json:"node"`
	Live   int                 `json:"live"`   // nodes that are there to hold jobs
	Behind map[chat.Lane]place `json:"behind"` // what a new ticket of each lane may expect
	// States is how the vendors stand; the next controller begins with it.
	States  map[string]gate.AccountState `json:"states,omitempty"`
	Running map[chat.Lane]int            `json:"running,omitempty"` // permits in use
	Demands map[string]gate.Demand       `json:"demands,omitempty"`
	// Room is when a lane that is full has a place again, where that is known.
	Room  map[chat.Lane]time.Duration `json:"room,omitempty"`
	Doors int                         `json:"doors,omitempty"` // nodes that take messages in
	// Levels is the load level that a ticket of each lane feels; missing: 0.
	Levels map[chat.Lane]int `json:"levels,omitempty"`
}

// place is a place in the line, counted from 1; 0: none.
type place struct {
	Position int           `json:"position"`
	ETA      time.Duration `json:"eta"`
}

// encodeReport writes the ids of all who wait as gaps: fifty thousand of them then take
// some hundred kilobytes.
func encodeReport(r report) ([]byte, error) {
	waits := slices.Sorted(slices.Values(r.Waits))
	for i := len(waits) - 1; i > 0; i-- {
		waits[i] -= waits[i-1]
	}
	r.Waits = waits
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return body, nil
}

func decodeReport(body []byte) (report, error) {
	var r report
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("decode report: %w", err)
	}
	for i := 1; i < len(r.Waits); i++ {
		r.Waits[i] += r.Waits[i-1]
	}
	return r, nil
}
