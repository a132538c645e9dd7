package load

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"sluice/internal/chat"
)

// What a burst is when its config says nothing else.
const (
	DefaultTickets = 2000
	DefaultOver    = 10 * time.Second // the command's default; a zero Over means at once
	DefaultTimeout = 2 * time.Minute
)

const (
	maxTickets = 200_000
	maxFor     = time.Hour
)

// BurstConfig says how many tickets come how fast. The zero value is 2,000 at once.
type BurstConfig struct {
	// Tickets is how many messages are sent. Defaults to 2,000; at most 200,000.
	Tickets int

	// Over is the time that they are spread over, evenly; at most an hour. Zero: at once,
	// as fast as the bounded pool of connections allows.
	Over time.Duration

	// MaxWait is the tickets' max_wait, from a second up. Zero: the lane's own.
	MaxWait time.Duration

	// Lanes are the shares of the lanes; they need not add up to 1. Defaults to high 0.1,
	// normal 0.7, low 0.2. An urgent message may still move up by itself.
	Lanes map[chat.Lane]float64

	// Sessions is how many sessions each tenant's tickets are spread over. Zero: 80 % of
	// the tickets open one of their own, and the others share some, about four to each.
	Sessions int

	// Customer is the id of the customer whose messages all are. Empty: nobody's.
	Customer string

	// Orders are the orders that the messages name in turn. Empty: each one of its own.
	Orders []string

	// Questions are what is asked, by chance. Empty: the shipped ones, none of them urgent.
	Questions []string

	// CancelShare of the tickets are cancelled up to two seconds after their acceptance.
	CancelShare float64

	// Timeout is how long after the last submission the last answers may come; a ticket
	// that has not ended then is lost. Defaults to 2 minutes, at most an hour.
	Timeout time.Duration

	// Seed makes messages, lanes and sessions repeatable.
	Seed uint64

	// AllowRemote allows targets on other machines. Times are then a mix of two clocks:
	// waits are right, the place of answers on the time axis may be shifted.
	AllowRemote bool
}

// Validate names the first field that is wrong, with its value.
func (c BurstConfig) Validate() error {
	switch {
	case c.Tickets < 0 || c.Tickets > maxTickets:
		return fmt.Errorf("tickets %d: must be from 1 to %d, or 0 for the default", c.Tickets, maxTickets)
	case c.Over < 0 || c.Over > maxFor:
		return fmt.Errorf("over %s: must be from 0s to %s", c.Over, maxFor)
	case c.MaxWait != 0 && c.MaxWait < time.Second:
		return fmt.Errorf("max wait %s: must be at least 1s, or 0 for the lane's own", c.MaxWait)
	case c.Sessions < 0:
		return fmt.Errorf("sessions %d: must not be negative", c.Sessions)
	case !(c.CancelShare >= 0 && c.CancelShare <= 1):
		return fmt.Errorf("cancel share %g: must be from 0 to 1", c.CancelShare)
	case c.Timeout < 0 || c.Timeout > maxFor:
		return fmt.Errorf("timeout %s: must be from 0s to %s", c.Timeout, maxFor)
	}
	return checkLanes(c.Lanes)
}

func checkLanes(mix map[chat.Lane]float64) error {
	sum := 0.0
	for _, lane := range slices.Sorted(maps.Keys(mix)) {
		share := mix[lane]
		if !lane.Valid() {
			return fmt.Errorf("lanes: %q is no lane", lane)
		}
		if !(share >= 0 && share <= 1e6) {
			return fmt.Errorf("lanes: the share of %s is %g, must be a number of at least 0", lane, share)
		}
		sum += share
	}
	if len(mix) > 0 && sum == 0 {
		return fmt.Errorf("lanes: all shares are 0")
	}
	return nil
}

func (c BurstConfig) withDefaults() BurstConfig {
	if c.Tickets == 0 {
		c.Tickets = DefaultTickets
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if len(c.Lanes) == 0 {
		c.Lanes = map[chat.Lane]float64{chat.High: 0.1, chat.Normal: 0.7, chat.Low: 0.2}
	}
	return c
}
