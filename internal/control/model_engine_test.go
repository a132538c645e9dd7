package control

import (
	"container/heap"
	"maps"
	"math/rand/v2"
	"time"

	"sluice/internal/queue"
)

// event is something that happens in the model at a true time.
type event struct {
	at  time.Duration
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if e[i].at != e[j].at {
		return e[i].at < e[j].at
	}
	return e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// engine is what all processes share: the bucket, the wires, and the order of time.
type engine struct {
	rand  *rand.Rand
	now   time.Duration // true time
	queue events
	seq   int

	calm  bool // no loss, no doubles, no long delays
	even  bool // all delays are the same: nothing overtakes, as on one connection
	epoch uint64

	leaseOwner string
	leaseValue uint64
	leaseEnds  time.Duration
	nodes      map[string]time.Duration // registration → its end
	charge     map[string]int
	chargeEnds time.Duration
}

func newEngine(seed uint64) *engine {
	return &engine{rand: rand.New(rand.NewPCG(seed, 1)), nodes: map[string]time.Duration{}}
}

func (e *engine) after(d time.Duration, do func()) {
	e.seq++
	heap.Push(&e.queue, event{at: e.now + d, seq: e.seq, do: do})
}

func (e *engine) run(until time.Duration) {
	for len(e.queue) > 0 && e.queue[0].at <= until {
		next := heap.Pop(&e.queue).(event)
		e.now = next.at
		next.do()
	}
	e.now = until
}

// delay is how long one message takes: mostly some milliseconds, at times seconds.
func (e *engine) delay() time.Duration {
	if e.even {
		return time.Millisecond
	}
	if !e.calm && e.rand.IntN(50) == 0 {
		return time.Duration(e.rand.IntN(3000)) * time.Millisecond
	}
	return time.Duration(100+e.rand.IntN(5000)) * time.Microsecond
}

// carry brings a message to its place: once, or twice, or never.
func (e *engine) carry(deliver func()) {
	if !e.calm && e.rand.IntN(40) == 0 {
		return
	}
	e.after(e.delay(), deliver)
	if !e.calm && e.rand.IntN(40) == 0 {
		e.after(e.delay(), deliver)
	}
}

// takeLease is the bucket's compare-and-set; 0: somebody has it.
func (e *engine) takeLease(owner string) uint64 {
	if e.now < e.leaseEnds {
		return 0
	}
	e.epoch++
	e.leaseOwner, e.leaseValue, e.leaseEnds = owner, e.epoch, e.now+queue.LeaseTTL
	return e.epoch
}

func (e *engine) renewLease(epoch uint64) bool {
	if e.now >= e.leaseEnds || e.leaseValue != epoch {
		return false
	}
	e.leaseEnds = e.now + queue.LeaseTTL
	return true
}

func (e *engine) registered() []string {
	var all []string
	for name, ends := range e.nodes {
		if e.now < ends {
			all = append(all, name)
		}
	}
	return all
}

func (e *engine) charged() map[string]int {
	if e.now >= e.chargeEnds {
		return map[string]int{}
	}
	return maps.Clone(e.charge)
}
