package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

func TestOperatorsHaveATextSentAgain(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	_, id := f.promised("Where is my order?")
	path := "sms/" + id + "/retry"
	refused(t, f.admin("POST", path, why), http.StatusNotFound, "not_found") // promised, and no text yet
	_, err := f.queue.SettlePromise(t.Context(), id, chat.PromiseSent, "", time.Now().UTC())
	must(t, err)
	refused(t, f.admin("POST", path, why), http.StatusConflict, codeTextState)
	outbox := queue.NewOutbox(f.queue)
	turn := func(change func(*chat.Notice)) {
		t.Helper()
		n, err := f.queue.Notice(t.Context(), id)
		must(t, err)
		change(&n)
		_, done, err := outbox.Set(t.Context(), n)
		if must(t, err); !done {
			t.Fatal("it was changed meanwhile")
		}
	}
	again := func(state string) answer {
		t.Helper()
		a := f.admin("POST", path, why)
		if a.status != http.StatusAccepted || a.text("state") != state || a.text("ticket_id") != id || a.text("until") == "" || strings.Contains(string(a.raw), "13800138000") {
			t.Fatalf("%d %s, want %s", a.status, a.raw, state)
		}
		return a
	}
	turn(func(n *chat.Notice) { n.Fail(chat.FaultOverdue, time.Now()) })
	again("queued") // it never left
	turn(func(n *chat.Notice) { n.Tries, n.Carried = 1, "SM1"; n.Fail("30003", time.Now()) })
	if a := again("unknown"); a.json["again"] != true {
		t.Errorf("%s", a.raw)
	}
	refused(t, f.admin("POST", path, why), http.StatusConflict, codeTextState) // under way
	turn(func(n *chat.Notice) {
		n.Hear(chat.Receipt{Status: "delivered", State: chat.NoticeDelivered, Carried: "SM1"}, time.Now())
	})
	refused(t, f.admin("POST", path, why), http.StatusConflict, codeTextState)

	refused(t, f.admin("POST", "sms/nobody/retry", why), http.StatusNotFound, "not_found")
	refused(t, f.admin("POST", "sms/"+chat.NewTicketID()+"/retry", why), http.StatusNotFound, "not_found")
	refused(t, f.admin("POST", path, map[string]any{}), http.StatusBadRequest, "invalid")
	refused(t, f.call("POST", "/admin/api/"+path, f.demo.Secret, why), http.StatusUnauthorized, "unauthorized")
	audit := string(f.admin("GET", "audit", nil).raw)
	if strings.Count(audit, `"sms.retry"`) != 12 || strings.Count(audit, "not done: sms_state") != 3 {
		t.Errorf("audit: %s", audit)
	}
}
