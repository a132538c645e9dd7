//go:build cluster

package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

const operatorPassword = "cluster-operator"

// operator is somebody with a login, which holds at every node.
type operator struct {
	t      *testing.T
	cookie string
	csrf   string
}

// logIn logs the operator admin in at a node.
func logIn(t *testing.T, at *instance) *operator {
	t.Helper()
	o := &operator{t: t}
	var session struct{ CSRF string }
	resp := o.do(at, http.MethodPost, "login", map[string]string{"user": "admin", "password": operatorPassword}, &session)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("login: %s", resp.Status)
	}
	o.cookie, _, _ = strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	o.csrf = session.CSRF
	return o
}

// do makes an operator's call at a node.
func (o *operator) do(at *instance, method, path string, body, out any) *http.Response {
	o.t.Helper()
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			o.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(o.t.Context(), method, at.base+"/admin/api/"+path, bytes.NewReader(raw))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cookie", o.cookie)
	req.Header.Set("X-CSRF-Token", o.csrf)
	resp, err := at.http.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if out != nil {
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
			o.t.Fatalf("%s %s: %s: %v", method, path, resp.Status, err)
		}
	}
	return resp
}

type laneView struct {
	State       string
	Depth       int
	Unconfirmed []string
}

// lane orders something of lane normal and returns how it stands.
func (o *operator) lane(at *instance, verb string) laneView {
	o.t.Helper()
	var l laneView
	if resp := o.do(at, http.MethodPost, "lanes/normal/"+verb, map[string]string{"reason": "cluster test"}, &l); resp.StatusCode != http.StatusOK {
		o.t.Fatalf("%s: %s", verb, resp.Status)
	}
	return l
}

// try hands a message in; the refusal is returned.
func (i *instance) try(q question) error {
	return i.call(call{method: http.MethodPost, url: "/v1/tickets", body: q}, nil)
}

// refuses reports whether a node takes nothing into lane normal.
func refuses(i *instance) bool {
	err := i.try(question{Message: "hello", Lane: "normal"})
	return err != nil && strings.Contains(err.Error(), "503 draining")
}

// TestALaneIsDrainedOverTheWholeCluster: with two nodes that take messages in, one of
// which is then killed and a NATS node with it.
func TestALaneIsDrainedOverTheWholeCluster(t *testing.T) {
	c := startCluster(t)
	env := "SLUICE_ADMIN_PASSWORD=" + operatorPassword
	one, two := c.launch("api", env), c.launch("api", env)
	c.ready(one)
	c.makeTenant(one)
	one.key, two.key = c.key, c.key
	c.ready(two)
	dispatcher := c.start("dispatcher")[0]
	dispatcher.behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "200ms"}})
	o := logIn(t, one)
	var open []string
	for range 20 {
		open = append(open, one.ask(question{Message: "hello", Lane: "normal"}).TicketID)
	}
	if l := o.lane(two, "drain"); l.State != "draining" && l.State != "drained" {
		t.Errorf("%+v", l)
	}
	for _, i := range []*instance{one, two} {
		if !poll(time.Second, func() bool { return refuses(i) }) {
			t.Error("a node takes messages in a second after the drain")
		}
	}
	await(t, 30*time.Second, "the lane is drained", func() bool { return o.lane(one, "drain").State == "drained" })
	for _, id := range open {
		if got := two.end(id, time.Second); got.Status != "answered" {
			t.Errorf("%+v", got)
		}
	}
	o.lane(two, "undrain")
	await(t, 5*time.Second, "both nodes take messages in again", func() bool { return !refuses(one) && !refuses(two) })

	// A node that is killed is waited for only while it counts as live; a NATS node that
	// goes at the same time changes nothing.
	two.signal(t, syscall.SIGKILL)
	c.killBroker(c.leader("KV_steering"), time.Second)
	await(t, 60*time.Second, "the lane drains without the dead node", func() bool {
		var l laneView
		resp := o.do(one, http.MethodPost, "lanes/normal/drain", map[string]string{"reason": "cluster test"}, &l)
		return resp.StatusCode == http.StatusOK && l.State == "drained"
	})
	if !refuses(one) {
		t.Error("the lane is drained and takes messages in")
	}
}

// TestNewRulesAreInForceOnTheWholeClusterWithinASecond changes a lane's limit, and
// refuses what the cluster cannot change.
func TestNewRulesAreInForceOnTheWholeClusterWithinASecond(t *testing.T) {
	c := startCluster(t)
	env := "SLUICE_ADMIN_PASSWORD=" + operatorPassword
	one, two := c.launch("api", env), c.launch("api", env)
	c.ready(one)
	c.makeTenant(one)
	one.key, two.key = c.key, c.key
	c.ready(two)
	o := logIn(t, one)
	var now struct {
		Revision uint64
		Document string
	}
	o.do(two, http.MethodGet, "rules", nil, &now)
	waits := func(i *instance) bool {
		return i.try(question{Message: "hello", Lane: "normal", MaxWait: "30s"}) == nil
	}
	if !waits(one) || !waits(two) {
		t.Fatal("30 s are too long before the change")
	}
	put := func(document string) *http.Response {
		return o.do(two, http.MethodPut, "rules", map[string]any{"document": document, "revision": now.Revision, "reason": "cluster test"}, nil)
	}
	if resp := put(strings.Replace(now.Document, "replicas: 3", "replicas: 1", 1)); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("other replicas: %s", resp.Status)
	}
	if resp := put(strings.Replace(now.Document, "normal: {bound: 5000, max_wait: 3m}", "normal: {bound: 5000, max_wait: 20s}", 1)); resp.StatusCode != http.StatusOK {
		t.Fatalf("put: %s", resp.Status)
	}
	for _, i := range []*instance{one, two} {
		if !poll(time.Second, func() bool { return !waits(i) }) {
			t.Error("the former rules are in force a second after the change")
		}
	}
}
