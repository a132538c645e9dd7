package chat

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what an error means to whoever has to react to it. It is mapped to an
// HTTP status in one place (api) and to ack, nak or term in one place (dispatcher).
type Kind int

// The kinds. An error that carries none is Internal.
const (
	Internal   Kind = iota // a fault of ours
	Invalid                // the caller's input is wrong; trying again will not help
	NotFound               // no such thing, or not the caller's
	Conflict               // the thing is in another state than the call needs
	Denied                 // the caller may not do this
	Overloaded             // refused for load; trying again later will help
	Transient              // a dependency failed; trying again soon may help
)

// Error is an error that a caller of Sluice may see: a stable code, a sentence for
// people, and the field it is about where there is one. Detail never repeats the
// text of a customer.
type Error struct {
	Kind       Kind
	Code       string        // stable and lower case, such as "queue_full"
	Field      string        // path of the offending field, or empty
	Detail     string        // one sentence
	RetryAfter time.Duration // for Overloaded: when to try again
	Err        error         // the cause, for logs only
}

// Error returns the code, the field and the detail in one line.
func (e *Error) Error() string {
	where := ""
	if e.Field != "" {
		where = " (" + e.Field + ")"
	}
	if e.Err != nil {
		return fmt.Sprintf("%s%s: %s: %v", e.Code, where, e.Detail, e.Err)
	}
	return fmt.Sprintf("%s%s: %s", e.Code, where, e.Detail)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind that err carries, or Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Bad returns an Invalid error about a field.
func Bad(field, detail string, args ...any) *Error {
	return &Error{Kind: Invalid, Code: "invalid", Field: field, Detail: fmt.Sprintf(detail, args...)}
}
