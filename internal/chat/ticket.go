package chat

import "time"

// Status is where a ticket stands in its life.
type Status string

// The life of a ticket: accepting → queued → running ⇄ queued → one of the ends.
// Accepting is internal: the caller has no answer yet.
const (
	Accepting Status = "accepting"
	Queued    Status = "queued"
	Running   Status = "running"
	Answered  Status = "answered"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Ended reports whether the status is one that never changes again.
func (s Status) Ended() bool { return s == Answered || s == Failed || s == Cancelled }

// Route says how a ticket was answered.
type Route string

// The routes, best first.
const (
	RouteAgent    Route = "agent"
	RouteRAG      Route = "rag"
	RouteFAQ      Route = "faq"
	RouteTemplate Route = "template"
	RouteCache    Route = "cache" // an answer that was given before
)

// Reason says why a ticket took a lesser route, failed or was cancelled.
type Reason string

// The reasons.
const (
	ReasonLevel             Reason = "level"              // the load is too high for more
	ReasonOverdue           Reason = "overdue"            // max_wait passed before a vendor had room
	ReasonPredictedWait     Reason = "predicted_wait"     // it would have waited past max_wait
	ReasonVendorUnavailable Reason = "vendor_unavailable" // the call to the vendor failed, or no vendor takes any in time
	ReasonError             Reason = "error"              // a fault of ours
	ReasonCustomer          Reason = "customer"           // cancelled by the caller
	ReasonOperator          Reason = "operator"           // cancelled by an operator: alone, with others, or with its lane
	ReasonAbandoned         Reason = "abandoned"          // cancelled because its customer left
	ReasonUndelivered       Reason = "undelivered"        // a promise that was broken because its text message did not arrive, as far as anybody knows
	ReasonUnpromised        Reason = "unpromised"         // a follow-up that was cancelled because nobody was told of it
	ReasonHuman             Reason = "human"              // cancelled because a person has the session
)

// Customer is who asks, as the tenant knows them.
type Customer struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Usage is what one answer cost, in tokens as the vendor counted them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Source is a document that a reply rests on.
type Source struct {
	Title string `json:"title"`
	URL   string `json:"url,omitempty"`
}

// Choice is a question that a reply offers in place of the customer's own: whoever sends
// its text, or its number in the list, is answered by what has the id.
type Choice struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Reply is an answer as the customer reads it. HTML is a sanitised rendering of
// Text, which is Markdown.
type Reply struct {
	Text    string   `json:"text"`
	HTML    string   `json:"html"`
	Locale  string   `json:"locale"`
	Sources []Source `json:"sources"`
	Choices []Choice `json:"choices,omitempty"` // the text lists them as well, by number from 1
}

// Answer is what a chain came to: the reply and how it was made.
type Answer struct {
	Reply   Reply
	Route   Route
	Reason  Reason // why the route is a lesser one; empty for the best
	Vendor  string
	Model   string
	Usage   *Usage
	Asks    *Deed  // the reply asks the customer whether to do this
	Trouble string // why a person has to look at it; empty: nobody has to
	Foreign bool   // the reply is in another script than the customer's, also when asked for again
	// FollowUp is the ticket that the reply promises, with Promise; empty: none.
	FollowUp string
	Promise  *Promise
	Handoff  HandoffCause // why people are to take the session over; empty: they are not
}

// Ticket is one message and its life, as stored in the ticket bucket and carried
// whole in the lane message. Only compare-and-set writes change a stored ticket.
type Ticket struct {
	ID      string `json:"id"`
	Tenant  string `json:"tenant"`
	Session string `json:"session"`
	Lane    Lane   `json:"lane"`
	Status  Status `json:"status"`

	Message     string            `json:"message"`
	CMID        string            `json:"cmid,omitempty"` // the socket client's own id of the message
	Language    string            `json:"language"`       // of the reply: Chinese or English
	Phone       string            `json:"phone,omitempty"`
	CallbackURL string            `json:"callback_url,omitempty"`
	Customer    *Customer         `json:"customer,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Intent      string            `json:"intent"`
	Urgent      bool              `json:"urgent,omitempty"`
	Crowd       bool              `json:"crowd,omitempty"`    // one of too many urgent ones: it goes as any other
	Entities    []Entity          `json:"entities,omitempty"` // that the message names, at most 16
	Mood        Mood              `json:"mood,omitempty"`
	Turn        int               `json:"turn,omitempty"` // counts the customer's messages of the session

	AcceptedAt time.Time  `json:"accepted_at"`
	Deadline   time.Time  `json:"deadline"` // acceptance + max_wait: the latest route decision
	DecidedAt  *time.Time `json:"decided_at,omitempty"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`

	LaneSeq  uint64 `json:"lane_seq,omitempty"` // stream sequence of the lane message
	Seq      uint64 `json:"seq,omitempty"`      // the customer message's place in the talk log
	Attempts int    `json:"attempts"`           // raised by each taking; names the holder in every later write
	Epoch    uint64 `json:"epoch,omitempty"`    // of its session when it was accepted; 0: it belongs to none

	Failures []Failure `json:"failures,omitempty"` // takings that came to nothing, oldest first
	Steps    []Step    `json:"steps,omitempty"`    // what it noted while it was worked on, at most MaxSteps
	Skipped  int       `json:"skipped,omitempty"`  // steps for which there was no room
	Dead     bool      `json:"dead,omitempty"`     // kept as a dead letter when it ended
	RetryOf  string    `json:"retry_of,omitempty"` // the ended ticket whose question this asks again

	Parent   string   `json:"parent,omitempty"`    // the ticket that this follows up
	FollowUp string   `json:"follow_up,omitempty"` // the ticket that the reply promises
	Promise  *Promise `json:"promise,omitempty"`   // as it was made; the present state is the queue's to tell

	Batch    string `json:"batch,omitempty"` // whose line this is: no turn, no history, no events
	Line     int    `json:"line,omitempty"`  // in its batch, from 1
	CustomID string `json:"custom_id,omitempty"`

	Handoff *Handoff `json:"handoff,omitempty"` // nil: people were not asked

	Deed *Deed `json:"deed,omitempty"` // that the ticket set out to do
	Asks *Deed `json:"asks,omitempty"` // that its reply asks the customer for

	Route  Route  `json:"route,omitempty"`
	Level  int    `json:"level"`
	Reason Reason `json:"reason,omitempty"`
	Reply  *Reply `json:"reply,omitempty"`
	Vendor string `json:"vendor,omitempty"`
	Model  string `json:"model,omitempty"`
	Usage  *Usage `json:"usage,omitempty"`

	Foreign bool `json:"foreign,omitempty"` // the reply is in another script than the customer's
}

// Answer puts an answer into the ticket and ends it at now. The caller stores it.
func (t *Ticket) Answer(a Answer, now time.Time) {
	t.Status, t.EndedAt = Answered, &now
	if t.DecidedAt == nil {
		t.DecidedAt = &now
	}
	t.Route, t.Reason, t.Reply = a.Route, a.Reason, &a.Reply
	t.Vendor, t.Model, t.Usage = a.Vendor, a.Model, a.Usage
	t.Asks, t.Foreign = a.Asks, a.Foreign
	t.FollowUp, t.Promise = a.FollowUp, a.Promise
	if a.Handoff != "" && t.Handoff == nil {
		t.Handoff = &Handoff{At: now, Cause: a.Handoff}
	}
}

// GiveUp ends the ticket without any answer at now, for a reason. The caller stores it.
func (t *Ticket) GiveUp(reason Reason, now time.Time) {
	t.Status, t.Reason, t.EndedAt = Failed, reason, &now
}

// Cancel ends the ticket at now for a reason. The caller stores it.
func (t *Ticket) Cancel(reason Reason, now time.Time) {
	t.Status, t.Reason, t.EndedAt = Cancelled, reason, &now
}
