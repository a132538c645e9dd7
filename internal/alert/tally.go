package alert

import (
	"sync"
	"time"
)

// Window is the past in which refusals are counted.
const Window = 5 * time.Minute

const (
	slot  = 10 * time.Second
	slots = int(Window/slot) + 1
)

// Tally counts what happened within the last Window, in steps of 10 s: what is older than
// Window and a step counts no more. Its zero value is ready, and it is safe for concurrent use.
type Tally struct {
	mu    sync.Mutex // guards the rest
	count [slots]int
	of    [slots]int64 // which step each count is of
}

// Add counts one at now.
func (t *Tally) Add(now time.Time) {
	step := now.UnixNano() / int64(slot)
	t.mu.Lock()
	defer t.mu.Unlock()
	i := int(step % int64(slots))
	if t.of[i] != step {
		t.of[i], t.count[i] = step, 0
	}
	t.count[i]++
}

// Sum returns the count at now.
func (t *Tally) Sum(now time.Time) int {
	step := now.UnixNano() / int64(slot)
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := 0
	for i, n := range t.count {
		if step-t.of[i] < int64(slots) {
			sum += n
		}
	}
	return sum
}
