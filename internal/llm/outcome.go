package llm

import (
	"errors"
	"net/http"
	"strings"
)

// Outcome is how a call counts for whoever watches over its vendor.
type Outcome string

// The outcomes of a call. Whether a good one was slow is for Timing to tell.
const (
	Good      Outcome = "good"
	Failed    Outcome = "failed"    // the vendor's failure: it counts for a breaker
	Throttled Outcome = "throttled" // the account is to pause, until RetryAfter if the vendor said so
	Ignored   Outcome = "ignored"   // says nothing of the vendor: cancelled, refused for what we sent, or never sent
)

// Retry is where a call that has failed may be tried once more, as long as nothing of it has reached the caller: who has
// streamed text must not retry at all.
type Retry string

// The places of a second try.
const (
	RetryNowhere   Retry = "nowhere"
	RetryElsewhere Retry = "elsewhere" // at another vendor
	RetryAnywhere  Retry = "anywhere"  // at the same endpoint too
)

// OutcomeOf returns the outcome of a call that returned err, which may be nil.
func OutcomeOf(err error) Outcome {
	var e *Error
	switch {
	case err == nil:
		return Good
	case errors.As(err, &e):
		return e.Outcome()
	}
	return Ignored
}

// RetryOf returns where a call that returned err may be tried once more.
func RetryOf(err error) Retry {
	var e *Error
	if errors.As(err, &e) {
		return e.Retry()
	}
	return RetryNowhere
}

// Outcome returns how the failed call counts.
func (e *Error) Outcome() Outcome {
	switch e.Kind {
	case RateLimited:
		return Throttled
	case Empty:
		if e.Code == codeLength {
			return Ignored // our token limit left no room for text
		}
		return Failed
	case Unavailable, Timeout, Truncated:
		return Failed
	case Malformed:
		if isThrottleCode(e.Code) {
			return Throttled
		}
		return Failed
	case Rejected:
		if ofAccount(e.Status) {
			return Failed
		}
	}
	return Ignored
}

// Retry returns where the failed call may be tried once more.
func (e *Error) Retry() Retry {
	switch e.Kind {
	case Unavailable, Truncated, Empty:
		if e.RetryAfter > 0 || e.Code == codeLength {
			return RetryElsewhere // the vendor has asked to be left alone, or would do the same again
		}
		return RetryAnywhere
	case Malformed:
		if errors.Is(e.Err, errInStream) && !isThrottleCode(e.Code) {
			return RetryAnywhere // a server error that came after the 200
		}
		return RetryElsewhere
	case RateLimited, Timeout, PoolExhausted:
		return RetryElsewhere
	case Rejected:
		if ofAccount(e.Status) {
			return RetryElsewhere
		}
	}
	return RetryNowhere
}

// ofAccount tells a refusal of the account (its key, its bill, its models) from one of what was asked, which every
// vendor would refuse. It counts as a failure: an account that refuses every call in no time would else be the first
// with room for each of them, while others are well.
func ofAccount(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

// isThrottleCode knows the codes of a rate limit that is told inside an answer, under status 200: OpenAI and its likes,
// DashScope.
func isThrottleCode(code string) bool {
	switch code {
	case "429", "rate_limit_exceeded", "rate_limit_error", "rate_limit", "limit_requests":
		return true
	}
	return code == "Throttling" || strings.HasPrefix(code, "Throttling.")
}
