package dispatcher

import (
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// noteLesser keeps that a rung came to nothing, and why.
func noteLesser(t *chat.Ticket, rung chat.Route, why chat.Reason) {
	t.Note(chat.Step{At: time.Now().UTC(), What: chat.StepLesser, Route: rung, Why: string(why), Attempt: t.Attempts})
}

// noteTurn keeps how long an earlier message of the session was waited for, if one was.
func noteTurn(t *chat.Ticket, since time.Time) {
	if since.IsZero() {
		return
	}
	now := time.Now().UTC()
	t.Note(chat.Step{At: now, What: chat.StepTurn, MS: now.Sub(since).Milliseconds(), Attempt: t.Attempts})
}

// notePermit keeps which vendor has room for a ticket, and how long that was waited for.
func notePermit(t *turn) {
	now := time.Now().UTC()
	t.Note(chat.Step{
		At: now, What: chat.StepPermit, Route: t.way.Route, Vendor: t.permit.Vendor, MS: now.Sub(t.asked).Milliseconds(), Attempt: t.Attempts + 1,
	})
}

// noteCalls keeps what was called for the present taking.
func noteCalls(t *chat.Ticket, caller *gate.Caller) {
	steps := caller.Steps()
	for i := range steps {
		steps[i].Attempt = t.Attempts
	}
	t.Note(steps...)
}
