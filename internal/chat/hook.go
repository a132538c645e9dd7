package chat

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// HookType says what a webhook tells.
type HookType string

// The types.
const (
	HookAnswered  HookType = "ticket.answered"
	HookFailed    HookType = "ticket.failed"
	HookCancelled HookType = "ticket.cancelled"
	HookHandoff   HookType = "handoff.requested"
	HookBatch     HookType = "batch.completed"
	HookBroken    HookType = "promise.broken"
)

// HookState is how far a webhook has come.
type HookState string

// The states: waiting → delivered | dead | unwanted, and dead → waiting by an operator's word.
const (
	HookWaiting   HookState = "waiting"
	HookDelivered HookState = "delivered"
	HookDead      HookState = "dead"     // nobody took it within a day, or its endpoint is off
	HookUnwanted  HookState = "unwanted" // its tenant has no endpoint
)

// HookOff is an endpoint that said that it wants nothing any more.
type HookOff struct {
	Tenant string    `json:"tenant"`
	URL    string    `json:"url"`
	At     time.Time `json:"at"`
}

// MaxHook is the most bytes of a webhook's body.
const MaxHook = 20_000

// Hook is one message to a tenant's own server and how far it has come. Its body, which never
// changes, is kept beside it.
type Hook struct {
	ID     string    `json:"id"` // the same for all tries: the receiver knows repeats by it
	Tenant string    `json:"tenant"`
	Type   HookType  `json:"type"`
	About  string    `json:"about"`         // id of the ticket or batch
	URL    string    `json:"url,omitempty"` // empty: the tenant's endpoint of the rules
	At     time.Time `json:"at"`

	State  HookState `json:"state"`
	Since  time.Time `json:"since"`            // when its tries began: a replay begins anew
	Tries  int       `json:"tries"`            // that were begun
	NextAt time.Time `json:"next_at"`          // of the next try; while one is under way, when it counts as lost
	Status int       `json:"status,omitempty"` // the answer to the last try; 0: there was none
	Fault  string    `json:"fault,omitempty"`  // of the last try, for operators
	DoneAt time.Time `json:"done_at,omitzero"`

	Rev uint64 `json:"-"` // for the next compare-and-set
}

// HookID returns the id of the message of a type about something: there is one.
func HookID(kind HookType, about string) string {
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + about))
	return "msg_" + base32.StdEncoding.EncodeToString(sum[:])[:26]
}

// IsHookID reports whether s has the form of a webhook's id.
func IsHookID(s string) bool {
	rest, found := strings.CutPrefix(s, "msg_")
	return found && ticketID.MatchString("t_"+rest)
}

// NewHook returns the message of a type about something that happened at an instant, to be
// sent at once, with its body.
func NewHook(tenant string, kind HookType, about, url string, at time.Time, data any) (Hook, []byte, error) {
	h := Hook{
		ID: HookID(kind, about), Tenant: tenant, Type: kind, About: about, URL: url, At: at,
		State: HookWaiting, Since: at, NextAt: at,
	}
	body, err := json.Marshal(struct {
		Type      HookType  `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{kind, at, data})
	if err != nil {
		return h, nil, fmt.Errorf("encode webhook %s: %w", h.ID, err)
	}
	if len(body) > MaxHook {
		return h, nil, fmt.Errorf("encode webhook %s: it has %d bytes, may have %d", h.ID, len(body), MaxHook)
	}
	return h, body, nil
}

// hookTicket is what a webhook says of an ended ticket, in the words of the ticket's own
// representation.
type hookTicket struct {
	ID       string            `json:"ticket_id"`
	Session  string            `json:"session_id"`
	Lane     Lane              `json:"lane"`
	Status   Status            `json:"status"`
	Intent   string            `json:"intent"`
	Urgent   bool              `json:"urgent"`
	Route    Route             `json:"route,omitempty"`
	Reason   Reason            `json:"reason,omitempty"`
	Reply    *hookReply        `json:"reply,omitempty"`
	Omitted  []string          `json:"omitted,omitempty"` // fields for which there was no room: ask for the ticket
	Parent   string            `json:"parent,omitempty"`
	FollowUp string            `json:"follow_up,omitempty"`
	Promise  *Promise          `json:"promise,omitempty"`
	Accepted time.Time         `json:"accepted_at"`
	Ended    time.Time         `json:"ended_at"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

type hookReply struct {
	Text    string   `json:"text"`
	Locale  string   `json:"locale"`
	Sources []Source `json:"sources,omitempty"`
}

// EndHook returns the message about the end of a ticket, for its CallbackURL. What has no
// room in it is left out, longest first, and named.
func (t *Ticket) EndHook() (Hook, []byte, error) {
	kind := map[Status]HookType{Answered: HookAnswered, Failed: HookFailed, Cancelled: HookCancelled}[t.Status]
	said := hookTicket{
		ID: t.ID, Session: t.Session, Lane: t.Lane, Status: t.Status, Intent: t.Intent, Urgent: t.Urgent,
		Route: t.Route, Reason: t.Reason, Parent: t.Parent, FollowUp: t.FollowUp, Promise: t.Promise,
		Accepted: t.AcceptedAt, Metadata: t.Metadata,
	}
	if t.EndedAt != nil {
		said.Ended = *t.EndedAt
	}
	if t.Reply != nil {
		said.Reply = &hookReply{Text: t.Reply.Text, Locale: t.Reply.Locale, Sources: t.Reply.Sources}
	}
	h, body, err := NewHook(t.Tenant, kind, t.ID, t.CallbackURL, said.Ended, said)
	if err != nil && said.Reply != nil {
		said.Reply, said.Omitted = nil, append(said.Omitted, "reply")
		h, body, err = NewHook(t.Tenant, kind, t.ID, t.CallbackURL, said.Ended, said)
	}
	if err != nil {
		said.Metadata, said.Omitted = nil, append(said.Omitted, "metadata")
		h, body, err = NewHook(t.Tenant, kind, t.ID, t.CallbackURL, said.Ended, said)
	}
	return h, body, err
}

// HandoffHook returns the message that people are asked to take a ticket's session over, for
// the endpoint of its tenant.
func (t *Ticket) HandoffHook() (Hook, []byte, error) {
	return NewHook(t.Tenant, HookHandoff, t.ID, "", t.Handoff.At, struct {
		Ticket  string       `json:"ticket_id"`
		Session string       `json:"session_id"`
		Lane    Lane         `json:"lane"`
		Intent  string       `json:"intent"`
		Urgent  bool         `json:"urgent"`
		Cause   HandoffCause `json:"cause"`
		Locale  string       `json:"locale"`
	}{t.ID, t.Session, t.Lane, t.Intent, t.Urgent, t.Handoff.Cause, t.Language})
}
