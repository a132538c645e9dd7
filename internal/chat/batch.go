package chat

import (
	"crypto/rand"
	"strconv"
)

// BatchStatus is where a batch stands.
type BatchStatus string

// The life of a batch: in progress → one of the ends.
const (
	BatchInProgress BatchStatus = "in_progress"
	BatchCompleted  BatchStatus = "completed"
	BatchCancelled  BatchStatus = "cancelled"
	BatchExpired    BatchStatus = "expired"
)

// NewBatchID returns a new random batch id: "b_" and 26 characters.
func NewBatchID() string { return "b_" + rand.Text() }

// IsBatchID reports whether s has the form of a batch id. Whoever puts an id from outside
// into a key asks this first.
func IsBatchID(s string) bool { return batchID.MatchString(s) }

// LineTicketID returns the id of the ticket that a line of a batch becomes, counted from
// 1: however often the line is fed, there is one ticket.
func LineTicketID(batch string, line int) string {
	return DerivedTicketID("batch", batch, strconv.Itoa(line))
}
