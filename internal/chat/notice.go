package chat

import "time"

// Notice is a text message that tells a customer of an answer: that there is one, never
// the answer.
type Notice struct {
	ID       string    `json:"id"` // of the follow-up; there is one notice of each
	Tenant   string    `json:"tenant"`
	Session  string    `json:"session"`
	Parent   string    `json:"parent"`
	Channel  string    `json:"channel"`
	Phone    string    `json:"phone"` // E.164
	Language string    `json:"language"`
	Code     string    `json:"code"`   // short, for people
	DueAt    time.Time `json:"due_at"` // later than this it does not leave, but for Until
	At       time.Time `json:"at"`
	Epoch    uint64    `json:"epoch,omitempty"` // of its session when it was promised; 0: not known

	State    NoticeState `json:"state,omitempty"`
	Since    time.Time   `json:"since,omitzero"`       // of the state
	Provider string      `json:"provider,omitempty"`   // who carries it, from the first try on
	Text     string      `json:"text,omitempty"`       // what is sent, from the first try on
	Segments int         `json:"segments,omitempty"`   // of the text
	Tries    int         `json:"tries,omitempty"`      // how often it may have left
	Holder   string      `json:"holder,omitempty"`     // who is sending it
	AskedAt  time.Time   `json:"asked_at,omitzero"`    // when the last try began
	Next     time.Time   `json:"next,omitzero"`        // nothing is done about it before
	Looks    int         `json:"looks,omitempty"`      // how often the carrier was asked since the last try
	Carried  string      `json:"carrier_id,omitempty"` // the carrier's id of it
	Fault    string      `json:"fault,omitempty"`      // why it failed: the carrier's code, or one of ours
	Settled  bool        `json:"settled,omitempty"`    // its promise knows how it ended
	Receipts []Receipt   `json:"receipts,omitempty"`   // as they came, the oldest first

	Until  time.Time `json:"until,omitzero"`   // an operator wants it sent again: later than this that does not leave
	Again  bool      `json:"again,omitempty"`  // another message goes once this one is known to have failed
	Round  int       `json:"round,omitempty"`  // how many messages of it were taken before, and did not arrive
	Former []string  `json:"former,omitempty"` // the carrier's ids of those

	Seq uint64 `json:"-"` // its place; what was changed later has a greater one
}

// TextCaps are the most text messages of a day.
type TextCaps struct{ PerNumber, PerTenant int }

// NoticeState is where a notice stands.
type NoticeState string

// The life of a notice: queued → sending → sent → delivered | failed, and queued → cancelled.
// A try whose outcome nobody has seen makes it unknown, until the carrier has been asked. An
// operator may have one sent again that is failed or unknown.
const (
	NoticeQueued    NoticeState = "queued"
	NoticeSending   NoticeState = "sending"
	NoticeUnknown   NoticeState = "unknown"
	NoticeSent      NoticeState = "sent"      // the carrier has taken it
	NoticeDelivered NoticeState = "delivered" // the carrier says that it arrived
	NoticeFailed    NoticeState = "failed"    // it did not arrive, and is not sent any more
	NoticeCancelled NoticeState = "cancelled" // a person took its session over before it left
)

// Why a notice failed where no carrier said so.
const (
	FaultOverdue    = "overdue"     // the promise's time has passed
	FaultQuiet      = "quiet_hours" // they last longer than the promise's time
	FaultSuppressed = "suppressed"  // its customer wants none
	FaultNumberCap  = "number_cap"
	FaultTenantCap  = "tenant_cap"
	FaultCountry    = "country"
	FaultNotSent    = "not_sent" // the carrier never had it, and the promise's time has passed
)

// Ended reports whether a notice is over: nothing that a carrier says changes the state.
func (s NoticeState) Ended() bool {
	return s == NoticeDelivered || s == NoticeFailed || s == NoticeCancelled
}

// LookAfter is how long after the carrier took a notice it is asked what became of it, where
// no receipt has said so.
const LookAfter = 10 * time.Minute

// Open reports whether something is to be done about a notice, now or later. Those from
// before there were carriers have no state.
func (n *Notice) Open() bool {
	switch n.State {
	case NoticeQueued, NoticeSending:
		return true
	case NoticeSent:
		return !n.Next.IsZero()
	case NoticeUnknown:
		return !n.Settled || !n.Until.IsZero()
	case NoticeDelivered, NoticeFailed, NoticeCancelled:
		return !n.Settled
	}
	return false
}

// Receipt is what a carrier said of a notice.
type Receipt struct {
	At      time.Time   `json:"at"`
	Status  string      `json:"status"`          // in the carrier's words
	State   NoticeState `json:"state,omitempty"` // what that means; empty: nobody knows
	Code    string      `json:"code,omitempty"`  // of the error
	Carried string      `json:"carrier_id,omitempty"`
	Round   int         `json:"round,omitempty"` // of the notice, whose message this is about
}

// Bounds of what is kept of receipts: the first ones, and so much of each text.
const (
	maxReceipts    = 16
	maxReceiptText = 64
)

// Hear takes a receipt in and reports whether it changed anything. Receipts may come
// doubled, late and in any order: an end stays, and nothing goes back. One for a message
// of the carrier's that is not the one it took last changes no state, but for a former one
// that has arrived after all. Where an operator wants it sent again, a failure is no end: it
// waits to be sent.
func (n *Notice) Hear(r Receipt, now time.Time) bool {
	r.Status, r.Code, r.Carried = cut(r.Status), cut(r.Code), cut(r.Carried)
	other := n.Carried != "" && r.Carried != "" && n.Carried != r.Carried
	changed := n.keep(r)
	if r.Round < n.Round {
		return r.State == NoticeDelivered && n.reach(NoticeDelivered, now) || changed
	}
	if other || r.State == "" {
		return changed
	}
	if n.Carried == "" && r.Carried != "" {
		n.Carried, changed = r.Carried, true
	}
	if !n.reach(r.State, now) {
		return changed
	}
	switch {
	case n.State == NoticeFailed && n.Again:
		n.nextRound(now)
	case n.State == NoticeFailed:
		n.Fault = r.Code
	}
	return true
}

// keep notes a receipt that is not there yet.
func (n *Notice) keep(r Receipt) bool {
	for _, k := range n.Receipts {
		if k.Status == r.Status && k.Code == r.Code && k.Carried == r.Carried && k.Round == r.Round {
			return false
		}
	}
	if len(n.Receipts) >= maxReceipts {
		return false
	}
	n.Receipts = append(n.Receipts, r)
	return true
}

// reach brings the state forward to what the carrier says: sent or an end.
func (n *Notice) reach(s NoticeState, now time.Time) bool {
	if n.State.Ended() || n.State == s || s != NoticeSent && !s.Ended() {
		return false
	}
	n.Turn(s, now)
	if s == NoticeSent {
		n.Next = now.Add(LookAfter)
	}
	n.Again = n.Again && s == NoticeFailed
	return true
}

func cut(s string) string {
	if runes := []rune(s); len(runes) > maxReceiptText {
		return string(runes[:maxReceiptText])
	}
	return s
}

// Turn puts a notice into a state at now.
func (n *Notice) Turn(s NoticeState, now time.Time) { n.State, n.Since, n.Next = s, now, time.Time{} }

// Fail ends a notice that does not arrive.
func (n *Notice) Fail(fault string, now time.Time) {
	n.Turn(NoticeFailed, now)
	n.Fault, n.Again = fault, false
}

// Promised returns how the promise of a notice stands by the notice, at now. ok is false
// while there is nothing to say.
func (n *Notice) Promised(now time.Time) (status PromiseStatus, ok bool) {
	switch {
	case n.State == NoticeDelivered:
		return PromiseDelivered, true
	case n.State == NoticeFailed:
		return PromiseBroken, true
	case n.State == NoticeCancelled:
		return PromiseCancelled, true
	case now.Before(n.DueAt):
	case n.State == NoticeUnknown, !n.Until.IsZero() && (n.State == NoticeQueued || n.State == NoticeSending):
		return PromiseBroken, true
	}
	return "", false
}
