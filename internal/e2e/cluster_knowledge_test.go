//go:build cluster

package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// knowledgeView is what a node tells of the knowledge.
type knowledgeView struct {
	Revision  uint64
	Documents int
	Changes   int
	InForce   struct{ Revision uint64 } `json:"in_force"`
}

// TestPublishedKnowledgeIsInForceOnTheWholeCluster drafts at one node, publishes at the
// other, loses a NATS node, and brings the first version back.
func TestPublishedKnowledgeIsInForceOnTheWholeCluster(t *testing.T) {
	c := startCluster(t)
	env := "SLUICE_ADMIN_PASSWORD=" + operatorPassword
	one, two := c.launch("api", env), c.launch("api", env)
	c.ready(one)
	c.ready(two)
	o := logIn(t, one)
	must := func(at *instance, method, path string, body, out any) {
		t.Helper()
		if resp := o.do(at, method, path, body, out); resp.StatusCode >= http.StatusMultipleChoices {
			t.Fatalf("%s %s: %s", method, path, resp.Status)
		}
	}
	said := map[string]any{"reason": "cluster test"}
	publish := func(at *instance) (rev uint64) {
		t.Helper()
		var view knowledgeView
		must(at, http.MethodPost, "knowledge/publish", said, &view)
		return view.Revision
	}
	inForce := func(rev uint64, documents int) {
		t.Helper()
		for _, i := range []*instance{one, two} {
			var view knowledgeView
			if !poll(20*time.Second, func() bool {
				resp := o.do(i, http.MethodGet, "knowledge", nil, &view) // away for a while after a broker was killed
				return resp.StatusCode == http.StatusOK && view.InForce.Revision == rev && view.Documents == documents && view.Changes == 0
			}) {
				t.Fatalf("a node has %+v, want revision %d with %d documents", view, rev, documents)
			}
		}
	}
	put := func(at *instance, n int, text string) {
		t.Helper()
		must(at, http.MethodPut, fmt.Sprintf("knowledge/%03d.md", n), map[string]any{"text": text, "reason": "cluster test"}, nil)
	}
	for n := range 100 {
		put(one, n, fmt.Sprintf("# Lamp %d\nThe lamp costs %d yuan.", n, n))
	}
	first := publish(two)
	inForce(first, 100)
	must(two, http.MethodDelete, "knowledge/000.md", said, nil)
	put(two, 1, "# Lamp 1\nIt is sold out.")
	second := publish(one)
	inForce(second, 99)
	c.killBroker(c.leader("KV_documents"), 2*time.Second)
	var view knowledgeView
	if !poll(30*time.Second, func() bool {
		resp := o.do(one, http.MethodPost, "knowledge/rollback", map[string]any{"revision": first, "reason": "cluster test"}, &view)
		return resp.StatusCode == http.StatusOK
	}) {
		t.Fatal("the first version does not come back")
	}
	inForce(view.Revision, 100)
	var found struct {
		Passages []struct{ Name, Text string }
	}
	must(two, http.MethodGet, "knowledge/search?q=how+much+does+lamp+1+cost", nil, &found)
	if len(found.Passages) == 0 || found.Passages[0].Name != "001.md" || found.Passages[0].Text != "The lamp costs 1 yuan." {
		t.Errorf("found %+v", found.Passages)
	}
}
