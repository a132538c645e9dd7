package drill

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/internal/report"
)

var update = flag.Bool("update", false, "write the golden files")

// example is a run of two drills.
func example() *Reports {
	down := &Report{
		Scenario: "vendor-down", About: "a vendor's connections break", Setup: "18 permits in all", Quick: true,
		StartedAt: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), TookMS: 21_400,
		Phases: []Phase{{"all is well", 0}, {"the vendor goes wrong", 3000}},
		Checks: []Check{{"lost", "0", "0", true}, {"calls per message", "≤ 1.10", "1.21", false}},
		Tables: []Table{{"vendors", report.Grid{{"vendor", "calls"}, {"a", "160"}}}},
		Calls:  []Series{{"a", []float64{6, 8, 7}}, {"b", []float64{0, 1}}},
		Waits:  []Series{{"wait", []float64{3, 12, 40}}},
		Notes:  []string{"a <note>"},
	}
	good := &Report{
		Scenario: "goodput", About: "customers who lose patience", StartedAt: down.StartedAt, TookMS: 150_000,
		Phases: []Phase{}, Tables: []Table{}, Notes: []string{},
		Checks: []Check{{"lane high served", "≥ 99.0%", "100.0%, 47 of 47", true}},
		Goodput: &Goodput{Permits: 8, OverMS: 30_000, Loads: []GoodputLoad{
			{Factor: 1, Offered: 600, Sluice: GoodputResult{Useful: 500, Percent: 90, High: 120, HighUseful: 120}, Naive: GoodputResult{Useful: 430, Percent: 71, High: 120, HighUseful: 80, GonePercent: 28}},
			{Factor: 3, Offered: 1800, Sluice: GoodputResult{Useful: 570, Percent: 96, High: 360, HighUseful: 355, ToldP95MS: 9}, Naive: GoodputResult{Useful: 90, Percent: 15, High: 360, HighUseful: 20, GonePercent: 85}},
		}},
	}
	down.judge()
	good.judge()
	return &Reports{Drills: []*Report{down, good}}
}

func TestTableIsGolden(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	all := example()
	for _, r := range all.Drills {
		if err := r.Table(&got); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.Table(&got); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/table.golden"
	if *update {
		if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("table is\n%s\nwant\n%s", got.String(), want)
	}
}

func TestOneBrokenPromiseIsAFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		report Report
		ok     bool
	}{
		"all kept":     {Report{Checks: []Check{{OK: true}, {OK: true}}}, true},
		"one broken":   {Report{Checks: []Check{{OK: true}, {Name: "lost", Bound: "0", Measured: "2"}}}, false},
		"not finished": {Report{Fault: "no NATS cluster came up", Checks: []Check{{OK: true}}}, false},
		"no check":     {Report{}, false},
	} {
		if c.report.judge(); c.report.OK != c.ok {
			t.Errorf("%s: OK is %t", name, c.report.OK)
		}
	}
	r := Report{Fault: "no", Checks: []Check{{Name: "lost", Bound: "0", Measured: "2"}}}
	if got := strings.Join(r.failures(), "; "); got != "no; lost: 2, want 0" {
		t.Errorf("failures %q", got)
	}
}

func TestPageNeedsNothingElseAndSurvivesItsJSON(t *testing.T) {
	t.Parallel()
	var raw, before, after bytes.Buffer
	r := example()
	var back Reports
	if err := errors.Join(r.JSON(&raw), json.Unmarshal(raw.Bytes(), &back), r.HTML(&before), back.HTML(&after)); err != nil {
		t.Fatal(err)
	}
	if before.String() != after.String() {
		t.Error("reports read back from their JSON show another page")
	}
	if found := regexp.MustCompile(`(?i)https?:|\b(src|href|action)=|url\(|@import|<script`).FindString(before.String()); found != "" {
		t.Errorf("the page holds %q", found)
	}
	// Two charts of the first drill, four of the second, and both designs in each of those.
	if n := strings.Count(before.String(), "<svg"); n != 6 {
		t.Errorf("%d charts, want 6", n)
	}
	if n := strings.Count(before.String(), "<polyline"); n != 3+8 {
		t.Errorf("%d lines, want 11", n)
	}
}
