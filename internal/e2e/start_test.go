//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestASecondStartGoesOnWhereTheFirstEnded: keys, tickets, claims and sessions stay.
func TestASecondStartGoesOnWhereTheFirstEnded(t *testing.T) {
	generated := []string{"SLUICE_DEV_TENANT_KEY=", "SLUICE_DEV_PUBLISHABLE_KEY="}
	i := start(t, setup{env: generated})
	key := shownKey.FindStringSubmatch(i.stdout.String())
	if key == nil {
		t.Fatalf("the first start shows no key:\n%s", i.stdout)
	}
	i.key = key[1]
	q := question{Message: "Where is my parcel 1?", SessionID: "second-start"}
	first, err := i.submit(q, "once")
	if err != nil {
		t.Fatal(err)
	}
	first = i.end(first.TicketID, 20*time.Second)
	i.stop()

	next := start(t, setup{dir: i.dir, env: generated})
	if shownKey.MatchString(next.stdout.String()) {
		t.Errorf("the second start shows a key again:\n%s", next.stdout)
	}
	next.key = key[1]
	if again, err := next.submit(q, "once"); err != nil || again.TicketID != first.TicketID {
		t.Errorf("the same key gets %+v (%v), want ticket %s", again, err, first.TicketID)
	}
	second := next.ask(question{Message: "And parcel 2?", SessionID: "second-start"})
	second = next.end(second.TicketID, 20*time.Second)
	next.checkTold("second-start", first, second)
}

var shownKey = regexp.MustCompile(`(?m)^ +key +(sk_[A-Z0-9]+) `)

func TestTheNamedKeyIsUsedVerbatim(t *testing.T) {
	i := start(t, setup{env: []string{"SLUICE_DEV_TENANT_KEY=any 16 characters"}})
	i.key = "any 16 characters"
	i.end(i.ask(question{Message: "Where is my parcel?"}).TicketID, 20*time.Second)
	i.key = tenantKey
	_, err := i.submit(question{Message: "Where is my parcel?"}, "")
	refused(t, err, http.StatusUnauthorized, "unauthorized")
}

func TestAShortKeyIsRefused(t *testing.T) {
	dir := newDir(t)
	for _, name := range []string{"SLUICE_DEV_TENANT_KEY", "SLUICE_DEV_PUBLISHABLE_KEY"} {
		code, _, stderr := run(t, []string{"SLUICE_DATA=" + dir, name + "=15-characters-x"}, "serve", "--listen", "127.0.0.1:0")
		oneLine(t, code, stderr, name, "16")
		if strings.Contains(stderr, "15-characters-x") {
			t.Errorf("the refusal repeats the key: %s", stderr)
		}
	}
	noTrace(t, dir)
}

func TestADataDirectoryInUseIsRefused(t *testing.T) {
	i := start(t, setup{})
	code, _, stderr := run(t, []string{noDatabase}, "serve", "--listen", "127.0.0.1:0", "--data", i.dir)
	oneLine(t, code, stderr, i.dir, "in use", "--data")
	// The one that holds it was not disturbed.
	i.end(i.ask(question{Message: "Where is my parcel?"}).TicketID, 20*time.Second)
}

func TestANewerFormatIsRefused(t *testing.T) {
	dir := newDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	format := filepath.Join(dir, "FORMAT")
	if err := os.WriteFile(format, []byte("1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := run(t, nil, "serve", "--listen", "127.0.0.1:0", "--data", dir)
	oneLine(t, code, stderr, format, "1000", "newer")
	if text, err := os.ReadFile(format); err != nil || string(text) != "1000\n" {
		t.Errorf("FORMAT is %q (%v) now, want it untouched", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "nats")); err == nil {
		t.Error("streams were made in a directory of a newer format")
	}
}

func TestFaultyRulesAreRefusedBeforeAnythingIsMade(t *testing.T) {
	dir, file := newDir(t), rulesFile(t, "lanes:\n  high: {bound: 0}\n")
	code, _, stderr := run(t, nil, "serve", "--listen", "127.0.0.1:0", "--data", dir, "--rules", file)
	oneLine(t, code, stderr, file+":2:10: lanes.high.bound: must be at least 1, is 0")
	noTrace(t, dir)
}

func noTrace(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data directory %s is there (%v), want none", dir, err)
	}
}
