package pulse

import (
	"sync"
	"time"

	"sluice/internal/chat"
)

// Tally counts what one process does, from its start on. It is safe for concurrent use; a
// nil one counts nothing.
type Tally struct {
	begun time.Time

	mu    sync.Mutex // guards the rest
	total Total
}

// NewTally returns a tally that has counted nothing. Lanes and routes have their counts at
// once: nothing is 0 there, and not unknown.
func NewTally() *Tally {
	t := &Tally{begun: time.Now(), total: newTotal()}
	for _, lane := range chat.Lanes() {
		for _, what := range []string{In, Out, Refused} {
			t.total.count(OfLane(lane, what), 0)
		}
	}
	for _, route := range Routes() {
		t.total.count(OfRoute(route), 0)
	}
	return t
}

// Entered counts a ticket that its lane has taken in.
func (t *Tally) Entered(ticket *chat.Ticket) { t.count(OfLane(ticket.Lane, In), 1) }

// Refused counts a message that was turned away from a lane for load or a limit.
func (t *Tally) Refused(lane chat.Lane) { t.count(OfLane(lane, Refused), 1) }

// Ended counts a ticket whose end was written here.
func (t *Tally) Ended(ticket *chat.Ticket) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.count(OfLane(ticket.Lane, Out), 1)
	if ticket.Status != chat.Answered {
		return
	}
	t.total.count(OfRoute(ticket.Route), 1)
	if ticket.DecidedAt != nil {
		t.observe(OfLane(ticket.Lane, Wait), ticket.DecidedAt.Sub(ticket.AcceptedAt))
	}
}

// Called counts a call of a vendor that has ended, and the tokens that it took.
func (t *Tally) Called(vendor string, took time.Duration, throttled bool, tokens int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.count(OfVendor(vendor, Calls), 1)
	t.total.count(OfVendor(vendor, Tokens), uint64(max(0, tokens)))
	refused := uint64(0)
	if throttled {
		refused = 1
	}
	t.total.count(OfVendor(vendor, Throttled), refused)
	t.observe(OfVendor(vendor, Took), took)
}

func (t *Tally) count(name string, n uint64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.count(name, n)
}

// observe counts a length. The caller holds mu.
func (t *Tally) observe(name string, d time.Duration) {
	var one Spread
	one.Observe(max(0, d))
	t.total.merge(name, &one)
}

// read returns the sums so far, and for how long it has counted by now.
func (t *Tally) read(now time.Time) (Total, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total.clone(), now.Sub(t.begun)
}
