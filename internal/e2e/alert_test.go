//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// TestAnAlertIsToldAlsoAfterAKill has a level in force that is worth an alert, and a receiver
// that takes nothing until the process was killed: the next one tells it, under the same id.
// Its page has every metric that is drawn, but for what did not happen here.
func TestAnAlertIsToldAlsoAfterAKill(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	var mu sync.Mutex
	var tries []http.Header
	var taken []byte
	status := http.StatusServiceUnavailable
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		tries = append(tries, r.Header)
		if status == http.StatusOK && taken == nil {
			taken = body
		}
		w.WriteHeader(status)
	}))
	defer receiver.Close()
	rules := fmt.Sprintf("valve: {force: {level: 2, until: %q}}\nalerts: {allow_private: true, webhooks: [{kind: generic, url: %q, secret_env: OPS_SECRET}]}\n",
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339), receiver.URL)
	env := []string{"OPS_SECRET=" + secret}
	i := start(t, setup{rules: rules, env: env})
	await(t, 20*time.Second, "the first try", func() bool { mu.Lock(); defer mu.Unlock(); return len(tries) > 0 })
	i.kill()
	mu.Lock()
	status = http.StatusOK
	first := tries[0]
	mu.Unlock()
	i = start(t, setup{dir: i.dir, rules: rules, env: env})
	await(t, 60*time.Second, "what was to be told", func() bool { mu.Lock(); defer mu.Unlock(); return taken != nil })
	mu.Lock()
	defer mu.Unlock()
	last := tries[len(tries)-1]
	var told struct {
		Type string
		Data struct {
			Firing []struct{ Key, Summary string }
		}
	}
	if err := json.Unmarshal(taken, &told); err != nil {
		t.Fatal(err)
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err == nil {
		err = verifier.Verify(taken, last)
	}
	if err != nil || first.Get("webhook-id") != last.Get("webhook-id") || told.Type != "alert.changed" ||
		len(told.Data.Firing) != 1 || told.Data.Firing[0].Key != "level_high" || told.Data.Firing[0].Summary != "the load level is 2 (threshold 2)" {
		t.Errorf("told %s (%v), ids %s and %s", taken, err, first.Get("webhook-id"), last.Get("webhook-id"))
	}
	i.checkMetrics()
}

// checkMetrics holds what is drawn and warned of against the page of a process that has
// had a vendor answer a question: an urgent one, since the level is forced.
func (i *instance) checkMetrics() {
	i.t.Helper()
	i.end(i.ask(question{Message: "I want to file a complaint"}).TicketID, 20*time.Second)
	res, err := i.http.Get(i.base + "/metrics")
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	rare := regexp.MustCompile(`^sluice_(refused|gate_refused|sms|tool_calls|probes|vendor|permit|first_token|cache)_`)
	for _, file := range []string{"../../deploy/prometheus/alerts.yml", "../../deploy/grafana/dashboards/sluice.json"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			i.t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b(?:sluice|process|go)_[a-z_]+\b`).FindAllString(string(raw), -1) {
			if !rare.MatchString(name) && !strings.Contains("\n"+string(page), "\n"+name+"{") && !strings.Contains("\n"+string(page), "\n"+name+" ") {
				i.t.Errorf("%s asks for %s, which is not there", file, name)
			}
		}
	}
}
