package chat

import "time"

// TypingLife is how long a sign of typing holds unless it is given again, which its sender
// does at least every half of it.
const TypingLife = 6 * time.Second

// Typing is a disposable sign that somebody writes in a session.
type Typing struct {
	Who    Who    `json:"who"`
	TTLMS  int64  `json:"ttl_ms"`           // 0: no longer
	Ticket string `json:"ticket,omitempty"` // that a bot works on
	From   string `json:"from,omitempty"`   // the customer's own socket, which does not hear it
}

// On returns the sign that says on for TypingLife, or that it is over.
func (t Typing) On(on bool) Typing {
	if t.TTLMS = 0; on {
		t.TTLMS = TypingLife.Milliseconds()
	}
	return t
}
