package dispatcher

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/llm"
)

// situation is everything that the decision about a job rests on.
type situation struct {
	now      time.Time
	deadline time.Time     // acceptance + max_wait
	permit   bool          // a vendor has room, and the session's turn is ours
	spent    bool          // it was taken as often as a job may be, and never came to an end
	lesser   chat.Reason   // why its rung needs no vendor; empty: it does
	handed   bool          // people have it already, and it only waits on
	drained  bool          // it does so in a lane that drains
	refused  *gate.Refusal // why no permit will come in time, or nil
	stopped  error         // why the work on the job was stopped, or nil
	failed   error         // how the chain failed, or nil
}

// action is what happens to a job next.
type action int

const (
	await    action = iota // ask the controller (again)
	run                    // let the chain answer
	answer                 // answer with a lesser rung, for a reason
	bury                   // without a vendor, and keep the job as a dead letter
	handBack               // give the job to whoever pulls next
	drop                   // somebody else has ended it
	abandon                // somebody else may be at it: its lane hands it on in its own time
)

// decision is what happens to a job, and why if it is a lesser answer.
type decision struct {
	action action
	reason chat.Reason
}

// decide says what happens to a job. It is a pure function: the same situation gives
// the same decision, and every path out of a held job passes here.
func decide(s situation) decision {
	switch {
	case errors.Is(s.stopped, errCancelled):
		return decision{action: drop}
	case errors.Is(s.failed, gate.ErrPermitLost), errors.Is(s.stopped, errTaken):
		return decision{action: abandon}
	case s.failed != nil && errors.Is(s.stopped, errStopping):
		return decision{action: handBack}
	case s.failed != nil:
		return failure(s.failed)
	case s.spent:
		return decision{action: bury, reason: chat.ReasonError}
	case s.handed && (s.drained || !s.now.Before(s.deadline)):
		return decision{action: answer, reason: chat.ReasonVendorUnavailable}
	case !s.now.Before(s.deadline):
		return decision{action: answer, reason: chat.ReasonOverdue}
	case errors.Is(s.stopped, errStopping):
		return decision{action: handBack}
	case s.lesser != "":
		return decision{action: answer, reason: s.lesser}
	case s.permit:
		return decision{action: run}
	case s.refused != nil:
		return decision{action: answer, reason: refusedFor(s.refused)}
	default:
		return decision{action: await}
	}
}

// failure decides about a job whose chain failed. A fault of ours is kept for us to look
// at, unless load alone explains it.
func failure(failed error) decision {
	var refused *gate.Refusal
	if errors.As(failed, &refused) {
		return decision{action: answer, reason: refusedFor(refused)}
	}
	reason := reasonOf(failed)
	if reason == chat.ReasonError && !errors.Is(failed, gate.ErrCrowded) {
		return decision{action: bury, reason: reason}
	}
	return decision{action: answer, reason: reason}
}

// refusedFor tells a wait that is too long from vendors that take nothing.
func refusedFor(r *gate.Refusal) chat.Reason {
	if r.Reason == gate.ReasonUnavailable {
		return chat.ReasonVendorUnavailable
	}
	return chat.ReasonPredictedWait
}

// reasonOf tells a fault of the vendor from one of ours.
func reasonOf(failed error) chat.Reason {
	var vendor *llm.Error
	if errors.As(failed, &vendor) || errors.Is(failed, context.DeadlineExceeded) {
		return chat.ReasonVendorUnavailable
	}
	return chat.ReasonError
}
