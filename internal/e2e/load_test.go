//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// report is what a burst found.
type report struct {
	Tickets    int            `json:"tickets"`
	Accepted   int            `json:"accepted"`
	Answered   int            `json:"answered"`
	Refused    map[string]int `json:"refused"`
	Lost       int            `json:"lost"`
	Duplicates int            `json:"duplicates"`
	Gaps       int            `json:"gaps"`
	Untold     int            `json:"untold"`
	Vendors    []struct {
		Name        string `json:"name"`
		MaxInFlight int    `json:"max_in_flight"`
		Completed   int    `json:"completed"`
		Refused     int    `json:"refused"`
	} `json:"vendors"`
}

// burst starts `sluice load burst` against the instance.
func (i *instance) burst(args ...string) (p *process, file string) {
	i.t.Helper()
	file = filepath.Join(i.t.TempDir(), "report.json")
	args = append([]string{"load", "burst", "--data", i.dir, "--json", file}, args...)
	return spawn(i.t, nil, args...), file
}

// verdict waits for the end of a burst and asserts that every promise was kept.
func (i *instance) verdict(p *process, file string) (r report) {
	i.t.Helper()
	if code := p.exit(i.t, 2*time.Minute); code != 0 {
		i.t.Errorf("exit code %d, want 0:\n%s\n%s", code, p.stdout, p.stderr.tail(5))
	}
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		i.t.Fatal(err)
	}
	if r.Lost != 0 || r.Duplicates != 0 || r.Gaps != 0 || r.Untold != 0 || r.Accepted == 0 {
		i.t.Errorf("accepted %d, lost %d, duplicates %d, gaps %d, ends not told %d; want some and 0",
			r.Accepted, r.Lost, r.Duplicates, r.Gaps, r.Untold)
	}
	limits := map[string]int{"a": 48, "b": 24, "c": 16}
	for _, v := range r.Vendors {
		if v.MaxInFlight > limits[v.Name] || v.Refused != 0 || v.Completed == 0 {
			i.t.Errorf("vendor %s had %d calls in flight of %d, refused %d and completed %d",
				v.Name, v.MaxInFlight, limits[v.Name], v.Refused, v.Completed)
		}
		i.t.Logf("vendor %s: at most %d of %d in flight, %d completed", v.Name, v.MaxInFlight, limits[v.Name], v.Completed)
	}
	i.t.Logf("%d sent in all, %d accepted, %d answered, refused: %v", r.Tickets, r.Accepted, r.Answered, r.Refused)
	return r
}

// TestABurstOnTheEmbeddedDefaultLosesNothing is 2,000 messages in 10 s: more than twice
// what the vendors can answer.
func TestABurstOnTheEmbeddedDefaultLosesNothing(t *testing.T) {
	i := start(t, setup{})
	p, file := i.burst("--tickets", "2000", "--over", "10s")
	r := i.verdict(p, file)
	if r.Tickets != 2000 {
		t.Errorf("%d tickets, want 2000", r.Tickets)
	}
	i.stop()
}

// TestTheVendorsAreUsedUnderLoad: with more to do than they can take, the vendors
// complete at least 0.8 of what their permits allow for calls of a second.
func TestTheVendorsAreUsedUnderLoad(t *testing.T) {
	const window = 10 * time.Second
	i := start(t, setup{rules: patientRules})
	p, file := i.burst("--tickets", "1300", "--over", "0s", "--max-wait", "1m")
	await(t, 20*time.Second, "the vendors are busy", func() bool { return i.stats().InFlight >= permits*9/10 })
	before, begun := i.stats().Completed, time.Now()
	poll(window, func() bool { return false })
	completed, took := i.stats().Completed-before, time.Since(begun)
	want := 0.8 * permits * took.Seconds()
	t.Logf("%d calls completed in %s: %.2f of what %d permits allow", completed, took.Round(time.Millisecond),
		float64(completed)/(permits*took.Seconds()), permits)
	if float64(completed) < want {
		t.Errorf("%d calls completed in %s, want at least %.0f", completed, took, want)
	}
	r := i.verdict(p, file)
	if r.Answered != r.Tickets {
		t.Errorf("%d of %d answered", r.Answered, r.Tickets)
	}
	i.stop()
}
