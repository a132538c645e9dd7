package ledger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"sluice/internal/ledger"
	"sluice/internal/ledger/ledgertest"
)

func TestAPromiseIsAsItWasLastTold(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	l := openAt(t, url)
	told := func(seq uint64, at time.Time, followUp, status string) ledger.EventRow {
		e := event(seq, at)
		e.Ticket, e.Kind, e.Who = followUp, "promise", ""
		e.Body = json.RawMessage(fmt.Sprintf(
			`{"seq": %d, "ticket": %q, "parent": "t_p", "promise": {"channel": "sms", "status": %q, "due_at": "2026-03-31T12:30:00Z"}}`, seq, followUp, status))
		return e
	}
	next := noon.AddDate(0, 1, 0) // in another month
	record(t, l, nil, []ledger.EventRow{told(9, next, "t_a", "sent"), told(3, noon, "t_a", "promised"), told(4, noon, "t_b", "promised"), event(5, noon)})
	want := func(id, status string) {
		t.Helper()
		raw, err := l.Promise(t.Context(), "demo", id)
		var p struct{ Channel, Status string }
		if err == nil {
			err = json.Unmarshal(raw, &p)
		}
		if err != nil || p.Channel != "sms" || p.Status != status {
			t.Errorf("%s: %s (%v), want %s", id, raw, err, status)
		}
	}
	want("t_a", "sent")
	want("t_b", "promised")
	for _, key := range [][2]string{{"other", "t_a"}, {"demo", "t_p"}} {
		if _, err := l.Promise(t.Context(), key[0], key[1]); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%q: %v", key, err)
		}
	}
	if n := query[int](t, url, "select count(*)::int from promises where parent = 't_p' and due_at = '2026-03-31T12:30:00Z'"); n != 2 {
		t.Errorf("%d promises of the parent, want 2", n)
	}
}
