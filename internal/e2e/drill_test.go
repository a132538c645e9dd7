//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// drilled is what a drill found.
type drilled struct {
	OK     bool `json:"ok"`
	Drills []struct {
		Scenario string `json:"scenario"`
		OK       bool   `json:"ok"`
		Fault    string `json:"fault"`
		Checks   []struct {
			Name     string `json:"name"`
			Bound    string `json:"bound"`
			Measured string `json:"measured"`
			OK       bool   `json:"ok"`
		} `json:"checks"`
	} `json:"drills"`
}

// drill plays a quick drill with the built binary and asserts that every promise was kept.
func drill(t *testing.T, scenario string) {
	t.Helper()
	dir := t.TempDir()
	file, page := filepath.Join(dir, "drill.json"), filepath.Join(dir, "drill.html")
	p := spawn(t, nil, "drill", scenario, "--quick", "--json", file, "--html", page)
	code := p.exit(t, 3*time.Minute)
	t.Logf("\n%s", p.stdout)
	var found drilled
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &found)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, p.stderr.tail(5))
	}
	if code != 0 || !found.OK || len(found.Drills) != 1 || found.Drills[0].Scenario != scenario || len(found.Drills[0].Checks) == 0 {
		t.Errorf("exit code %d, report %+v; want 0 and one good drill", code, found)
	}
	if drawn, err := os.ReadFile(page); err != nil || !strings.Contains(string(drawn), "<svg") {
		t.Errorf("the page holds no chart: %v", err)
	}
}

// TestADrillWithAVendorDownPasses in a private instance of one process. The others are
// played by make drill.
func TestADrillWithAVendorDownPasses(t *testing.T) { drill(t, "vendor-down") }

// TestAnInterruptedDrillLeavesNothingBehind: its children end with it, and its directory
// goes.
func TestAnInterruptedDrillLeavesNothingBehind(t *testing.T) {
	dir := newDir(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := spawn(t, []string{"TMPDIR=" + dir}, "drill", "vendor-down", "--quick")
	instances := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "sluice-drill-*", "solo", "d", "sluice.sock"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	await(t, 30*time.Second, "the private instance runs", func() bool { return len(instances()) == 1 })
	p.signal(t, syscall.SIGINT)
	if code := p.exit(t, 40*time.Second); code != 1 || !strings.Contains(p.stderr.String(), "canceled") {
		t.Errorf("exit code %d and %q, want 1 and that it was cancelled", code, p.stderr.tail(3))
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
