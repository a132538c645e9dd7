package gate

import "math"

// The numbers of a retry budget. Shares are kept as whole millionths: ten times 0.1
// of a retry must make one.
const (
	oneRetry     = 1_000_000
	mostRetries  = 10 * oneRetry // saved up in good times
	lentRetries  = 3 * oneRetry  // to begin with, and paid back out of the first calls
	roundingSlip = 1e-9          // 100 × 0.29 are 29 permits, not 28.99…
)

// RetryBudget keeps retries a small part of all calls, so that they cannot keep a vendor
// down that fails: with a share of 0.1 there are at most 1.1 calls for each that was
// asked for, where retries upon retries made 45 (litellm#7130, code_puppy#317). It begins with
// three retries on credit, for a vendor that is down as the first calls come; they are paid
// back before anything is saved. It is not safe for concurrent use.
type RetryBudget struct{ share, saved, owed int }

// NewRetryBudget returns a budget of share retries for each first call, 0 to 1. The
// share that Google's SRE book gives a client is 0.1.
func NewRetryBudget(share float64) *RetryBudget {
	if !(share > 0) {
		share = 0
	}
	b := &RetryBudget{share: int(math.Round(min(share, 1) * oneRetry))}
	if b.share > 0 {
		b.saved, b.owed = lentRetries, lentRetries
	}
	return b
}

// Call adds the share of one first call, or pays it back.
func (b *RetryBudget) Call() {
	back := min(b.share, b.owed)
	b.owed -= back
	b.saved = min(b.saved+b.share-back, mostRetries)
}

// Room reports whether a retry may begin while underWay retries run: the budget must
// hold one, and at most permits (a share) of the limit are for retries. That share is
// at least one permit, unless it or the limit is 0. It changes no count.
func (b *RetryBudget) Room(underWay, limit int, permits float64) bool {
	if b.saved < oneRetry || limit <= 0 || !(permits > 0) {
		return false
	}
	most := math.Floor(float64(limit)*permits + roundingSlip)
	return float64(underWay) < max(most, 1)
}

// Take spends one retry. Ask Room before.
func (b *RetryBudget) Take() { b.saved = max(b.saved-oneRetry, 0) }
