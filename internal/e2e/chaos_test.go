//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"sluice/internal/badnet"
)

// seen is an event as a tab showed it.
type seen struct {
	Seq    uint64 `json:"seq"`
	Kind   string `json:"kind"`
	Who    string `json:"who"`
	Ticket string `json:"ticket"`
	CMID   string `json:"cmid"`
	Text   string `json:"text"`
	Status string `json:"status"`
}

// conversation is what the driver tells of one.
type conversation struct {
	Session string `json:"session"`
	Asked   []struct {
		CMID string `json:"cmid"`
		Text string `json:"text"`
	} `json:"asked"`
	One     []seen `json:"one"` // what the tab that asked showed
	Two     []seen `json:"two"` // what another tab of the session showed
	Cuts    int    `json:"cuts"`
	Resets  int    `json:"resets"`
	Stopped any    `json:"stopped"`
}

// TestABadNetworkLosesAndDoublesNothing: conversations of the widget's connection module
// through a proxy that cuts, delays, deafens and doubles connections. Each message is stored
// once, each answer is shown once, and the order is the same in both tabs, in the poll and in
// the ledger. SLUICE_CHAOS is another number of conversations, of 20 messages: make soak.
func TestABadNetworkLosesAndDoublesNothing(t *testing.T) {
	conversations, messages, limit := 40, 6, 75*time.Second
	if n, err := strconv.Atoi(os.Getenv("SLUICE_CHAOS")); err == nil {
		conversations, messages, limit = n, 20, 10*time.Minute
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: install Node.js 18 or newer")
	}
	i := start(t, setup{rules: patientRules, env: []string{"SLUICE_DATABASE_URL="}})
	await(t, time.Minute, "the database is ready", func() bool { return i.database() == "ready" })
	i.behave(map[string]any{"first_token": map[string]any{"kind": "fixed", "mean": "50ms"}, "call": map[string]any{"kind": "fixed", "mean": "250ms"}})
	p := badnet.Start(t, i.base, 4*time.Second)
	cmd := exec.CommandContext(t.Context(), node, "testdata/chaos.mjs", connectionModule(t), "ws://"+p.Addr()+"/v1/chat", publishableKey,
		strconv.Itoa(conversations), strconv.Itoa(messages), "50", strconv.FormatInt(limit.Milliseconds(), 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []conversation
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c conversation
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Errorf("driver: %v: %.200s", err, lines.Text())
			continue
		}
		all = append(all, c)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("driver: %v", err)
	}
	p.Stop()
	if len(all) != conversations {
		t.Fatalf("%d conversations, want %d", len(all), conversations)
	}
	cuts := 0
	for _, c := range all {
		cuts += c.Cuts
		i.checkConversation(c, messages)
	}
	t.Logf("%d conversations of %d messages, %d lost connections: %v", conversations, messages, cuts, p.Faults())
	i.checkLedger(all, messages)
	i.stop()
}

// checkConversation compares what both tabs showed with what the poll tells.
func (i *instance) checkConversation(c conversation, messages int) {
	i.t.Helper()
	if c.Stopped != nil || c.Resets != 0 || len(c.Asked) != messages {
		i.t.Errorf("session %s: stopped by %v, %d resets, %d messages sent", c.Session, c.Stopped, c.Resets, len(c.Asked))
		return
	}
	var page struct {
		Events []seen `json:"events"`
	}
	if err := i.call(call{url: "/v1/sessions/" + c.Session + "/events"}, &page); err != nil {
		i.t.Errorf("events of %s: %v", c.Session, err)
		return
	}
	stored, ends := map[string]int{}, map[string]int{}
	for n, e := range page.Events {
		if e.Seq != uint64(n+1) {
			i.t.Errorf("session %s: event %d has seq %d", c.Session, n+1, e.Seq)
		}
		if e.Who == "customer" {
			stored[e.CMID+" "+e.Text]++
		}
		if e.Status != "" {
			ends[e.Ticket]++
		}
	}
	for _, a := range c.Asked {
		if n := stored[a.CMID+" "+a.Text]; n != 1 {
			i.t.Errorf("session %s: a message was stored %d times", c.Session, n)
		}
	}
	if len(stored) != messages || len(ends) != messages || len(page.Events) != 2*messages {
		i.t.Errorf("session %s: %d messages and %d ends in %d events, want %d", c.Session, len(stored), len(ends), len(page.Events), messages)
	}
	for name, tab := range map[string][]seen{"that asked": c.One, "beside it": c.Two} {
		if !slices.Equal(tab, page.Events) {
			i.t.Errorf("session %s: the tab %s showed %d events, the log has %d; first difference: %s", c.Session, name, len(tab), len(page.Events), difference(tab, page.Events))
		}
	}
}

func difference(a, b []seen) string {
	for n := range max(len(a), len(b)) {
		if n >= len(a) || n >= len(b) || a[n] != b[n] {
			return fmt.Sprintf("%+v, %+v", a[min(n, len(a)):min(n+1, len(a))], b[min(n, len(b)):min(n+1, len(b))])
		}
	}
	return "none"
}

// checkLedger compares what the ledger has of the conversations.
func (i *instance) checkLedger(all []conversation, messages int) {
	i.t.Helper()
	book := i.ledger()
	want := 2 * messages * len(all)
	await(i.t, 30*time.Second, "the ledger has every event", func() bool { return book.count("select count(*) from talk_events") >= want })
	if n := book.count("select count(*) from talk_events"); n != want {
		i.t.Errorf("the ledger has %d events, want %d", n, want)
	}
	for _, c := range all {
		for _, e := range c.One {
			if n := book.count("select count(*) from talk_events where session = $1 and seq = $2 and ticket = $3 and who = $4", c.Session, e.Seq, e.Ticket, e.Who); n != 1 {
				i.t.Errorf("session %s: the ledger has event %d %d times as it was shown", c.Session, e.Seq, n)
			}
		}
	}
}

// connectionModule returns where Node finds the widget's modules: it takes them for such only
// beside a file that says so.
func connectionModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	modules, err := filepath.Glob("../../web/*.js")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o600)
	}
	for _, file := range modules {
		text, e := os.ReadFile(file)
		err = errors.Join(err, e, os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "connection.js")
}
