package chat

// Lane is a priority subject of the queue.
type Lane string

// The lanes, best first. High, Normal and Low are interactive: a person waits.
const (
	High     Lane = "high"
	Normal   Lane = "normal"
	Low      Lane = "low"
	Deferred Lane = "deferred" // answered later, by SMS
	Batch    Lane = "batch"
)

// Lanes returns all lanes, best first.
func Lanes() []Lane { return []Lane{High, Normal, Low, Deferred, Batch} }

// Rank returns the lane's place in the strict order: 4 for High down to 0 for
// Batch, and -1 for a name that is no lane.
func (l Lane) Rank() int {
	for i, lane := range Lanes() {
		if l == lane {
			return len(Lanes()) - 1 - i
		}
	}
	return -1
}

// Interactive reports whether a person waits for the answer.
func (l Lane) Interactive() bool { return l == High || l == Normal || l == Low }

// Valid reports whether l names a lane.
func (l Lane) Valid() bool { return l.Rank() >= 0 }
