package load

import (
	"fmt"
	"sync/atomic"
)

// The checks after the end of a ticket are the last tenth of its way.
const (
	wholeWay = 10
	untilEnd = 9
)

// counts are what the progress shows.
type counts struct {
	total                         int
	sent, refused, ended, checked atomic.Int64
}

// Way is how far all tickets are, short of the very end.
func (c *counts) Way() (done, total int) {
	done = wholeWay*int(c.refused.Load()) + untilEnd*int(c.ended.Load()) + int(c.checked.Load())
	return done, c.total * wholeWay
}

// String returns the counts in one line.
func (c *counts) String() string {
	sent, refused, ended := c.sent.Load(), c.refused.Load(), c.ended.Load()
	return fmt.Sprintf("sent %d, ended %d, refused %d, open %d", sent, ended, refused, max(sent-refused-ended, 0))
}
