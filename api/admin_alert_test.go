package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/alert"
)

// ringing is a bell that rang before.
type ringing struct {
	state alert.State
	hooks int
	err   error
	tests int
}

func (r *ringing) State(context.Context) (alert.State, error) { return r.state, r.err }

func (r *ringing) Test(context.Context) (int, error) { r.tests++; return r.hooks, r.err }

func TestAlertsAreShownAndTested(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	f := nodes(t, 1)[0]
	if a := f.admin("GET", "alerts", nil); a.status != http.StatusOK || strings.TrimSpace(string(a.raw)) != `{"firing":[],"recent":[],"webhooks":[]}` {
		t.Errorf("where nobody watches: %d %s", a.status, a.raw)
	}
	bell := &ringing{}
	f.deps.Alerts = bell
	refused(t, f.admin("POST", "alerts/test", why), http.StatusConflict, "no_webhook")
	bell.hooks = 2
	bell.state = alert.State{
		Firing: map[string]alert.Alert{"breaker_open:a": {Key: "breaker_open:a", Name: alert.BreakerOpen, Severity: alert.Critical, Target: "a", Since: noon, Value: 1}},
		Recent: []alert.Alert{{Key: "level_high", Name: alert.LevelHigh, Severity: alert.Warning, Since: noon, EndedAt: noon.Add(time.Hour), Value: 2, Threshold: 2}},
		Sends:  []alert.Send{{Hook: "slack-1"}, {Hook: "slack-1"}},
		Hooks:  map[string]alert.Outcome{"slack-1": {At: noon, Fault: "answered 500"}, "feishu-2": {At: noon}},
	}
	a := f.admin("GET", "alerts", nil)
	for _, part := range []string{
		`"firing":[{"key":"breaker_open:a","name":"breaker_open","severity":"critical","target":"a","since":"2026-06-01T12:00:00Z","value":1,"threshold":0,"summary":{"zh":"a 的熔断器已断开","en":"the breaker of a is open"},"help":{"zh":"`,
		`"threshold":2,"summary":{"zh":"负载级别为 2（阈值 2）","en":"the load level is 2 (threshold 2)"}`, `"ended_at":"2026-06-01T13:00:00Z"}]`,
		`"webhooks":[{"id":"feishu-2","waiting":0,"at":"2026-06-01T12:00:00Z"},{"id":"slack-1","waiting":2,"at":"2026-06-01T12:00:00Z","fault":"answered 500"}]`,
	} {
		if a.status != http.StatusOK || !strings.Contains(string(a.raw), part) {
			t.Errorf("%d %s\nwithout %s", a.status, a.raw, part)
		}
	}
	if a := f.admin("POST", "alerts/test", why); a.status != http.StatusAccepted || !strings.Contains(string(a.raw), `"webhooks":2`) || bell.tests != 2 {
		t.Errorf("%d %s, %d tests", a.status, a.raw, bell.tests)
	}
	refused(t, f.admin("POST", "alerts/test", map[string]any{"reason": " "}), http.StatusBadRequest, "invalid")
	bell.err = errors.New("nats is away")
	refused(t, f.admin("GET", "alerts", nil), http.StatusServiceUnavailable, "unavailable")
}
