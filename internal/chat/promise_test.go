package chat

import (
	"slices"
	"testing"
	"time"
)

func TestAPromiseGoesOnlyForward(t *testing.T) {
	t.Parallel()
	allowed := map[PromiseStatus][]PromiseStatus{
		Promised:    {PromiseMet, PromiseSent, PromiseBroken, PromiseCancelled},
		PromiseSent: {PromiseDelivered, PromiseBroken, PromiseCancelled},
	}
	for _, from := range PromiseStatuses() {
		for _, to := range PromiseStatuses() {
			if want := slices.Contains(allowed[from], to); from.Becomes(to) != want {
				t.Errorf("%s becomes %s: %v", from, to, !want)
			}
		}
	}
}

func TestAFollowUpAsksTheSameQuestionLater(t *testing.T) {
	t.Parallel()
	parent := fullTicket()
	f := parent.FollowUpTo(noon.Add(time.Second), time.Minute)
	if f.ID != FollowUpID(parent.ID) || f.Parent != parent.ID || f.Lane != Deferred || f.RetryOf != "" || f.Seq != parent.Seq {
		t.Errorf("follow-up %+v", f)
	}
	if f.Message != parent.Message || f.Phone != parent.Phone || f.Language != parent.Language || f.Session != parent.Session || f.Attempts != 0 {
		t.Errorf("follow-up %+v", f)
	}
	if !f.AcceptedAt.Equal(noon.Add(time.Second)) || f.Deadline.Sub(f.AcceptedAt) != time.Minute {
		t.Errorf("accepted %s, deadline %s", f.AcceptedAt, f.Deadline)
	}
	if again := parent.FollowUpTo(noon.Add(time.Hour), time.Minute); again.ID != f.ID {
		t.Error("a second follow-up has another id")
	}
}

func TestAShortCodeNamesATicket(t *testing.T) {
	t.Parallel()
	if got := ShortCode("t_ABCDEFGH2345IJKLMNOPQRSTUV"); got != "ABCD-EFGH" {
		t.Errorf("code %q", got)
	}
	if got := ShortCode("t_short"); got != "" {
		t.Errorf("code of no ticket: %q", got)
	}
}
