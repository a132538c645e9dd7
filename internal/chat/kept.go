package chat

import "time"

// Kept is an answer that is kept for equal questions.
type Kept struct {
	Reply      Reply     `json:"reply"`
	MadeAt     time.Time `json:"made_at"`
	FreshUntil time.Time `json:"fresh_until"` // after it the answer is still given, and made anew
	GoneAt     time.Time `json:"gone_at"`     // after it the answer is not given any more
}

// Making says how far the making of an answer is that others wait for.
type Making string

// The states of an answer in the making.
const (
	MakingNow    Making = "now"    // somebody is at it
	MakingGiven  Making = "given"  // the answer is kept
	MakingLeft   Making = "left"   // nobody is at it: the next one may be
	MakingFailed Making = "failed" // it came to nothing a moment ago: each works for itself
	MakingUnfit  Making = "unfit"  // the answer was for one customer alone: each works for itself
)

// Recalled is what is known of a question before anybody works on it.
type Recalled struct {
	Answer *Answer // nil: none is kept
	Renew  bool    // the answer is old, and the receiver is the one to make it anew
	// End must be called once the work has ended, on every path; stopped says that it was
	// cancelled, handed back or lost, so that somebody else may take it up. Nil: nobody
	// waits for it.
	End func(stopped bool)
}
