package llm

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Kind says what went wrong at a vendor, for breakers, retries and metrics.
type Kind string

// The kinds of vendor error. A cancellation by the caller is none of them: it comes back as context.Cause.
const (
	RateLimited   Kind = "rate_limited"   // 429; RetryAfter is set if the vendor said so
	Unavailable   Kind = "unavailable"    // 5xx, 408, no connection, connection lost
	Timeout       Kind = "timeout"        // one of our limits passed; Phase says which
	Truncated     Kind = "truncated"      // the answer ended without its end
	Malformed     Kind = "malformed"      // not an answer: an error inside a stream, HTML, garbage, too large
	Rejected      Kind = "rejected"       // any other 4xx or 3xx, or a request that cannot be built
	Empty         Kind = "empty"          // an answer with neither text nor a tool call
	Filtered      Kind = "filtered"       // the vendor's content filter refused or cut the answer
	PoolExhausted Kind = "pool_exhausted" // none of our own connections became free; the vendor was not asked
)

// Phase names the limit of Timeouts that a call ran into.
type Phase string

// The phases of a call, each with a limit of its own.
const (
	PhaseConnect    Phase = "connect"
	PhaseFirstToken Phase = "first_token"
	PhaseGap        Phase = "gap"
	PhaseCall       Phase = "call"
	PhaseStream     Phase = "stream"

	phaseAcquire Phase = "acquire" // becomes PoolExhausted: it is no time-out of the vendor's
)

// Error is a call that came to no answer. Its text holds names, numbers and addresses only: never what a customer or
// the model wrote, never the key, and never the vendor's prose, which may repeat either.
type Error struct {
	Vendor     string
	Kind       Kind
	Phase      Phase         // which limit passed, with Timeout; PhaseConnect with Unavailable: no connection stood
	Status     int           // HTTP status of a refusal, else 0
	Code       string        // the vendor's error code, or the stop reason that broke the answer off; "" if none
	RetryAfter time.Duration // how long the vendor asks to wait, 0 if it does not say
	RequestID  string        // the vendor's id of the call, "" if none
	Err        error         // what lies beneath, may be nil
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("vendor " + e.Vendor + ": " + string(e.Kind))
	if e.Phase != "" {
		b.WriteString(" (" + string(e.Phase) + ")")
	}
	if e.Status != 0 {
		b.WriteString(", status " + strconv.Itoa(e.Status))
	}
	if e.Code != "" {
		b.WriteString(", code " + e.Code)
	}
	if e.RequestID != "" {
		b.WriteString(", request " + e.RequestID)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns what lies beneath.
func (e *Error) Unwrap() error { return e.Err }

// ErrStreamingFunc is wrapped by the error of a call whose streaming function panicked.
var ErrStreamingFunc = errors.New("streaming function panicked")

var (
	errTransport = errors.New("transport error")
	errNotJSON   = errors.New("answer is not the JSON expected")
	errNotStream = errors.New("answer is not an event stream")
	errTooLarge  = errors.New("answer is too large")
	errInStream  = errors.New("error inside the answer")
	errFunction  = errors.New("legacy function_call is not supported")
	errToolCall  = errors.New("tool call has no name")
	errPanic     = errors.New("answer made the client panic")
)

// dialError marks an error as made before a connection stood.
type dialError struct {
	err  error
	late bool // our own connect limit passed
}

func (e *dialError) Error() string { return "dial: " + e.err.Error() }

func (e *dialError) Unwrap() error { return e.err }

// innocent reduces an error of the transport to what is safe to log: net/http quotes bytes of a response that it
// cannot parse, and those may be anything.
func innocent(err error) error {
	var dial *dialError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dial):
		return dial
	case errors.As(err, &op):
		return op
	case errors.As(err, &cert):
		return cert
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	case errors.Is(err, io.EOF):
		return io.EOF
	}
	return errTransport
}
