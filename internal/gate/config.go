package gate

import (
	"fmt"
	"time"

	"sluice/internal/chat"
)

// Config is what the rules say to the gate.
type Config struct {
	Vendors map[string]Vendor // at least one
	Lanes   map[chat.Lane]Lane
	// Weights are the shares of tenants inside a lane: one of weight 2 is served twice as
	// often as one of 1 while both wait. Missing: 1.
	Weights map[string]float64
	Predict bool // refuse at once who would wait past its deadline
	Intake  Intake
}

// Vendor limits the calls of one account.
type Vendor struct {
	Limit   int            // permits in all, at least 1
	Elastic int            // of these only for lanes that may borrow; below Limit
	Models  map[string]int // permits of single models, by our word for them; 0 or missing: no limit of its own
	QPS     int            // calls in a sliding second; 0: no limit
	Tokens  int            // in a sliding minute; 0: no limit
	Retry   float64        // part of the limit that retries may hold
	// Tool says that this is no vendor of models but a tool that answers call in between:
	// permits and breaker are the same, but nothing of it counts as a call of a model.
	Tool    bool
	Breaker BreakerConfig // the zero value: none
}

// Lane is how a lane stands in the order.
type Lane struct {
	Age     time.Duration // wait that raises a waiter's rank by one; 0: it never rises
	Elastic bool          // it may take elastic permits, and does so first
	Share   float64       // most of a vendor's base permits that it may hold; 0: all
	// Floor is the part of a vendor's base permits, at least one, that the lane gets before
	// all new work, so that it moves under any load; 0: none.
	Floor  float64
	Paused bool // no new call starts
}

// Validate names the field that is wrong.
func (c Config) Validate() error {
	if len(c.Vendors) == 0 {
		return fmt.Errorf("gate config: Vendors is empty")
	}
	for name, v := range c.Vendors {
		if v.Limit < 1 {
			return fmt.Errorf("gate config: Vendors[%s].Limit must be at least 1, is %d", name, v.Limit)
		}
		if v.Elastic < 0 || v.Elastic >= v.Limit {
			return fmt.Errorf("gate config: Vendors[%s].Elastic must be from 0 to below %d, is %d", name, v.Limit, v.Elastic)
		}
	}
	for lane, l := range c.Lanes {
		if l.Share < 0 || l.Share > 1 || l.Floor < 0 || l.Floor > 1 {
			return fmt.Errorf("gate config: Lanes[%s]: Share and Floor must be from 0 to 1, are %v and %v", lane, l.Share, l.Floor)
		}
	}
	return c.Intake.Validate()
}

func (c Config) weight(tenant string) float64 {
	if w := c.Weights[tenant]; w > 0 {
		return w
	}
	return 1
}
