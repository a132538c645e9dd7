package drill

import (
	"fmt"
	"math/rand/v2"
	"time"

	"sluice/internal/chat"
)

// How customers lose patience, and how many are in lane high.
const (
	leastPatience = 3 * time.Second / Scale
	morePatience  = 9 * time.Second / Scale // on average, exponentially
	highShare     = 0.2
)

// customer is somebody who asks one question and leaves unless the first word of an answer
// comes in time. Who has seen it stays to the end.
type customer struct {
	at       time.Duration // after the beginning
	high     bool
	patience time.Duration
	text     string
}

// customers come by chance at a rate a second, for a while. The same seed brings the same
// ones.
func customers(seed uint64, rate float64, over time.Duration) []customer {
	rng := rand.New(rand.NewPCG(seed, 0x60_0d))
	var all []customer
	for at := 0.0; ; {
		at += rng.ExpFloat64() / rate
		c := customer{
			at: time.Duration(at * float64(time.Second)), high: rng.Float64() < highShare,
			patience: leastPatience + time.Duration(rng.ExpFloat64()*float64(morePatience)),
			text:     fmt.Sprintf("Where is parcel %d-%d?", seed, len(all)),
		}
		if c.at >= over {
			return all
		}
		all = append(all, c)
	}
}

// visit is a customer's stay, and what came of it. Times are after the message was sent.
type visit struct {
	customer
	ticket string
	acked  time.Duration
	first  time.Duration // the first word of an answer; 0: none came
	ended  time.Duration // the whole answer; 0: none came
	reason chat.Reason   // of an answer without a vendor
	vendor bool          // a vendor's answer
	left   bool          // out of patience
	code   string        // the message was refused
	fault  error         // what went wrong with the visit itself
}

// useful reports whether a vendor's answer began inside the customer's patience and came to
// its end.
func (v *visit) useful() bool { return v.vendor && v.ended > 0 && !v.left }

// degraded reports whether the customer, still there, got an answer without a vendor.
func (v *visit) degraded() bool { return v.ended > 0 && !v.vendor && !v.left }

// told returns how long after its refusal a customer had the lesser answer. Whoever would
// wait too long is refused at once, and whoever waited in vain at the limit.
func (v *visit) told(limit time.Duration) time.Duration {
	if v.reason == chat.ReasonOverdue {
		return v.ended - v.acked - limit
	}
	return v.ended
}
