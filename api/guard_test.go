package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// journal is a log that a test reads.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func TestLogHoldsNoTextNoKeyAndNoID(t *testing.T) {
	t.Parallel()
	var j journal
	f := setup(t, func(d *Deps, _ *Config, _ *queue.Config) { d.Log = zerolog.New(&j) })
	a := f.submit(map[string]any{"message": "my password is hunter2", "session_id": "s1", "phone": "+8613800138000"}, "Idempotency-Key", "order-77")
	f.call("POST", "/v1/tickets", f.demo.Secret, `{"message":"hunter2","unknown":"hunter2"}`)
	f.call("GET", "/v1/tickets/"+a.text("ticket_id"), f.demo.Secret, nil)
	f.call("GET", "/v1/sessions/s1/events?after=0", f.demo.Secret, nil)
	f.stop()
	log := j.String()
	for _, secret := range []string{"hunter2", "13800138000", f.demo.Secret, "order-77", a.text("ticket_id")} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q:\n%s", secret, log)
		}
	}
	if !strings.Contains(log, `"path":"/v1/tickets/:id"`) || !strings.Contains(log, `"tenant":"demo"`) || !strings.Contains(log, `"code":"invalid"`) {
		t.Errorf("the log lacks something:\n%s", log)
	}
}

func TestPanicIsAnInternalProblem(t *testing.T) {
	t.Parallel()
	var j journal
	f := setup(t, func(d *Deps, _ *Config, _ *queue.Config) {
		d.Log = zerolog.New(&j)
		d.Classify = func(string) (string, bool) { panic("the classifier broke") }
	})
	a := f.call("POST", "/v1/tickets", f.demo.Secret, map[string]any{"message": "hello"})
	refused(t, a, http.StatusInternalServerError, "internal")
	if strings.Contains(string(a.raw), "classifier") {
		t.Errorf("the cause is shown: %s", a.raw)
	}
	f.stop()
	if log := j.String(); !strings.Contains(log, "the classifier broke") || !strings.Contains(log, "goroutine") {
		t.Errorf("the cause is not in the log: %s", log)
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, path := range []string{"/", "/docs", "/openapi.json", "/livez", "/readyz", "/widget.js", "/nothing", "/v1/tickets/x", "/v1/chat"} {
		a := f.call("GET", path, "", nil)
		for _, header := range []string{"X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "Cache-Control"} {
			if a.header.Get(header) == "" {
				t.Errorf("%s: no %s", path, header)
			}
		}
	}
	refused(t, f.call("GET", "/v1/chat", "", nil), http.StatusUpgradeRequired, "upgrade_required")
}

func TestReadinessTellsEachDependency(t *testing.T) {
	t.Parallel()
	down := func(context.Context) (string, error) { return "", errors.New("dial tcp 10.0.0.7: refused") }
	up := func(context.Context) (string, error) { return "", nil }
	for name, c := range map[string]struct {
		checks []Check
		status int
		word   string
	}{
		"nothing to ask": {nil, 200, "ready"},
		"all well":       {[]Check{{"nats", true, up}, {"database", false, up}}, 200, "ready"},
		"optional away":  {[]Check{{"nats", true, up}, {"database", false, down}}, 200, "degraded"},
		"required away":  {[]Check{{"database", false, down}, {"nats", true, down}, {"a", false, down}}, 503, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, func(d *Deps, _ *Config, _ *queue.Config) { d.Checks = c.checks })
			a := f.call("GET", "/readyz", "", nil)
			checks, _ := a.json["checks"].([]any)
			if a.status != c.status || a.text("status") != c.word || len(checks) != len(c.checks) || strings.Contains(string(a.raw), "10.0.0.7") {
				t.Errorf("%d %s", a.status, a.raw)
			}
			if a := f.call("GET", "/livez", "", nil); a.status != http.StatusOK || a.text("status") != "alive" {
				t.Errorf("livez: %d %s", a.status, a.raw)
			}
		})
	}
}

func TestLostEngineIsUnavailable(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.stop()
	f.engine.Close()
	in := newIntake(f.deps)
	_, _, err := in.Submit(t.Context(), Message{Tenant: chat.Tenant{Name: "demo", Lane: chat.High}, Text: "hello", Session: "s1"})
	if p := problemOf(err); p.Status != http.StatusServiceUnavailable || p.Code != "unavailable" || p.RetryAfterMS == 0 {
		t.Errorf("%+v", p)
	}
	if _, err := f.tenantOf(t.Context(), f.demo.Secret); problemOf(err).Code != "unavailable" {
		t.Errorf("a key is judged without the engine: %v", err)
	}
}

func TestProblemsOfTheRouter(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{400: "invalid", 404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_media_type", 418: "internal"} {
		p := problemOfEcho(echo.NewHTTPError(status))
		if p.Code != code || (status != 418 && p.Status != status) {
			t.Errorf("%d: %+v", status, p)
		}
	}
}

func TestConfigNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	for field, c := range map[string]Config{
		"PublicURL": {PublicURL: "chat.example"}, "Polls": {Polls: -1}, "Stop": {Stop: -1}, "Burst": {Sockets: SocketConfig{Burst: -1}},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := New(Deps{}, Config{}); err == nil {
		t.Error("built of nothing")
	}
}
