package pulse

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// maxBeat is the longest message of a process that is read, in bytes.
const maxBeat = 512 << 10

// Beat is what a process tells of itself every 2 s: its sums since its start.
type Beat struct {
	Node    string        `json:"node"` // unique id of the process's life
	N       uint64        `json:"n"`    // grows with each message; an older one tells nothing
	Age     time.Duration `json:"age"`  // for how long it has counted
	Sockets int           `json:"sockets,omitempty"`
	Total
}

func encode(b Beat) ([]byte, error) {
	body, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encode pulse: %w", err)
	}
	return body, nil
}

// decode reads a beat and refuses one that names no node, or more than there can be.
func decode(body []byte) (b Beat, err error) {
	if len(body) > maxBeat {
		return b, fmt.Errorf("pulse of %d bytes", len(body))
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return b, fmt.Errorf("decode pulse: %w", err)
	}
	switch {
	case b.Node == "" || len(b.Node) > 64:
		return b, errors.New("pulse of no node")
	case len(b.Counts) > maxCounts || len(b.Spreads) > maxSpreads:
		return b, errors.New("pulse with too many names")
	}
	b.Sockets = max(0, b.Sockets)
	return b, nil
}
