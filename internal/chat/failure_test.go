package chat

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestAStoryTellsEachTakingOnce(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	ticket := Ticket{Status: Queued, AcceptedAt: noon}
	take := func(second int) {
		now := at(second)
		ticket.Status, ticket.StartedAt = Running, &now
		ticket.Attempts++
	}
	take(1)
	ticket.Fail("lost", at(2))
	ticket.StartedAt = nil
	take(3)
	want := []Step{
		{At: noon, What: "accepted"}, {At: at(1), What: "taken", Attempt: 1},
		{At: at(2), What: "failed", Attempt: 1, Why: "lost"}, {At: at(3), What: "taken", Attempt: 2},
	}
	if got := ticket.Story(); !reflect.DeepEqual(got, want) {
		t.Errorf("while it runs: %+v, want %+v", got, want)
	}
	ticket.Fail("panicked", at(4))
	ticket.Answer(Answer{Route: RouteTemplate, Reason: ReasonError}, at(5))
	want = append(want, Step{At: at(4), What: "failed", Attempt: 2, Why: "panicked"}, Step{At: at(5), What: "answered", Why: "error", Route: RouteTemplate})
	if got := ticket.Story(); !reflect.DeepEqual(got, want) {
		t.Errorf("after its end: %+v, want %+v", got, want)
	}
}

func TestACauseIsKeptShortAndWhole(t *testing.T) {
	t.Parallel()
	var ticket Ticket
	ticket.Fail(strings.Repeat("长", maxCause), noon)
	if got := ticket.Failures[0].Cause; len(got) > maxCause || len(got) < maxCause-utf8.UTFMax || !utf8.ValidString(got) {
		t.Errorf("cause of %d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}

// A question that is asked again has the same time, and nothing of the former life.
func TestAgainAsksTheSameQuestion(t *testing.T) {
	t.Parallel()
	old := fullTicket()
	old.Fail("lost", noon.Add(time.Minute))
	old.Dead = true
	old.Answer(answer(), noon.Add(time.Hour))
	got := old.Again("t_new", noon.Add(2*time.Hour))
	want := Ticket{
		ID: "t_new", Tenant: old.Tenant, Session: old.Session, Lane: old.Lane, Message: old.Message, Language: old.Language,
		Phone: old.Phone, CallbackURL: old.CallbackURL, Customer: old.Customer, Metadata: old.Metadata, Intent: old.Intent, Urgent: old.Urgent,
		AcceptedAt: noon.Add(2 * time.Hour), Deadline: noon.Add(2*time.Hour + 10*time.Second), RetryOf: old.ID,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("asked again: %+v, want %+v", got, want)
	}
}
