//go:build cluster

package e2e

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestEqualQuestionsOnTheWholeClusterAreOneCall: what 500 customers ask at once is answered
// for all of them by one call, wherever their messages come in and are taken.
func TestEqualQuestionsOnTheWholeClusterAreOneCall(t *testing.T) {
	const n = 500
	c := newCluster(t)
	written, err := os.ReadFile(c.rules)
	if err != nil {
		t.Fatal(err)
	}
	c.rules = rulesFile(t, strings.Replace(string(written), "cache: {answers: 0s}", "cache: {answers: 1h}", 1))
	c.form()
	p := c.start("api", "api", "dispatcher", "dispatcher", "dispatcher")
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "8s"}})
	all := make([]ticket, n)
	begun := time.Now()
	each(n, 64, func(k int) { all[k] = p[k%2].ask(question{Message: "Do you deliver to islands?"}) })
	t.Logf("%d accepted within %s", n, time.Since(begun).Round(time.Millisecond))
	routes := map[string]int{}
	each(n, 64, func(k int) { all[k] = p[k%2].end(all[k].TicketID, time.Minute) })
	for _, got := range all {
		routes[got.Route]++
	}
	if s := p[0].stats(); s.Calls != 1 || routes["agent"] != 1 || routes["cache"] != n-1 {
		t.Errorf("%d calls, routes %v", s.Calls, routes)
	}
	for _, i := range p {
		i.stop()
	}
}
