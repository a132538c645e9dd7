package gate

// Outcome is how a call ended, as far as the gate cares.
type Outcome string

// The outcomes. Any other word counts as Ignored, so that nodes of two versions can
// share one controller.
const (
	Ignored   Outcome = ""          // unknown, cancelled, our own fault, a 4xx of ours: says nothing about the vendor
	Good      Outcome = "good"      // an answer in time
	Slow      Outcome = "slow"      // good, but its first token came after slow_after, or a long gap was in it
	Failed    Outcome = "failed"    // no answer, through the vendor's fault
	Throttled Outcome = "throttled" // 429: quota, not failure
)

// outcomeOf names for people how a call ended.
func outcomeOf(o Outcome, err error) string {
	switch {
	case o != Ignored:
		return string(o)
	case err != nil:
		return "broken off"
	}
	return string(Good)
}
