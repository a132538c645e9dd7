package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"sluice/internal/chat"
)

const subprotocol = "sluice.v1"

// frame is what a socket of a load reads of the frames that it is sent.
type frame struct {
	Type         string      `json:"type"`
	Session      string      `json:"session"`
	Token        string      `json:"token"`
	Recovered    bool        `json:"recovered"`
	CMID         string      `json:"cmid"`
	Ticket       string      `json:"ticket"`
	Seq          uint64      `json:"seq"`
	Who          chat.Who    `json:"who"`
	Status       chat.Status `json:"status"`
	Route        chat.Route  `json:"route"`
	Reason       chat.Reason `json:"reason"`
	Code         string      `json:"code"`
	RetryAfterMS int64       `json:"retry_after_ms"`
	Temporary    bool        `json:"temporary"`

	err error // of a frame of type cut
}

// cut is the type of what stands for the end of the connection.
const cut = "cut"

// piece is how a delta begins. There are many, and nothing in them is looked at.
var piece = []byte(`{"type":"delta"`)

// decodeFrame returns a frame; false: it is one that no load looks at.
func decodeFrame(raw []byte) (f frame, wanted bool, err error) {
	if bytes.HasPrefix(raw, piece) {
		return f, false, nil
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, false, fmt.Errorf("decode frame: %w", err)
	}
	switch f.Type {
	case "welcome", "ack", "event", "error":
		return f, true, nil
	}
	return frame{}, false, nil
}

// told sums up the events of a session in their order: who was told the same has the same
// sum.
type told struct {
	seq      uint64 // of the newest event
	gaps     int    // events that were passed over
	repeated int    // events that had come before
	sum      uint64
}

// take adds an event and reports whether it is a new one.
func (t *told) take(seq uint64, ticket, cmid string, status chat.Status) (fresh bool) {
	if seq <= t.seq {
		t.repeated++
		return false
	}
	t.gaps += int(seq - t.seq - 1)
	t.seq = seq
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s %s %s", t.sum, seq, ticket, cmid, status) // a hash takes everything
	t.sum = h.Sum64()
	return true
}
