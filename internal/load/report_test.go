package load

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
)

var update = flag.Bool("update", false, "write the golden files")

// exampleReport is of a run in which much happened.
func exampleReport() *Report {
	return &Report{
		Scenario: "burst", Run: "abcd2345", Target: "127.0.0.1:8080", StartedAt: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
		SentMS: 10_020, AnsweredMS: 24_310, Settings: Settings{Tenants: 4, OverMS: 10_000},
		Tickets: 2000, Accepted: 1950, Refused: map[string]int{"queue_full": 30, "rate_limited": 20},
		Answered: 1945, Failed: 2, Cancelled: 1, Lost: 2, Duplicates: 1, Gaps: 3,
		Routes: []RouteCount{
			{chat.RouteAgent, "", 1200}, {chat.RouteFAQ, "", 500}, {chat.RouteTemplate, chat.ReasonOverdue, 245},
		},
		LostSample: []Lost{{"t_A", "s_<b>", chat.Low, chat.Queued, "not ended in time"}},
		AcceptMS:   Spread{1950, 4, 19, 55, 120},
		Times: []Times{
			{"all", Spread{1945, 1200, 8800, 9900, 9990}, Spread{1945, 1003, 1800, 2500, 4000}, Spread{1945, 2300, 10_100, 11_200, 13_000}},
			{"high", Spread{200, 10, 400, 900, 950}, Spread{200, 990, 1700, 2100, 2300}, Spread{200, 1000, 2000, 2500, 3000}},
		},
		WaitCount: []Bucket{{2000, 1000}, {4000, 500}, {6000, 0}, {8000, 300}, {10_000, 145}},
		Vendors: []VendorLine{
			{Name: "a", Limit: 48, Quota: 60, Answered: 900, Measured: true, MaxInFlight: 48, Calls: 1000, Completed: 990, Errors: 10, Use: Use{45.2, 700, 743, 0.9417}},
			{Name: "b", Answered: 300},
		},
		Capacity: Capacity{Measured: true, WindowMS: 15_500, Limit: 48, Use: Use{45.2, 700, 743, 0.9417}},
		Series: []Second{
			{At: 0, Accepted: 200, InFlight: map[string]int{"a": 48}, Completed: map[string]int{"a": 3}},
			{At: 1, Accepted: 190, Ended: 60, InFlight: map[string]int{"a": 47}, Completed: map[string]int{"a": 46}},
		},
		Notes: []string{"a <note> & more"},
	}
}

func TestTableIsGolden(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	if err := exampleReport().Table(&got); err != nil {
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

func TestReportsSurviveTheirJSON(t *testing.T) {
	t.Parallel()
	var raw, before, after bytes.Buffer
	r := exampleReport()
	var back Report
	if err := errors.Join(r.JSON(&raw), json.Unmarshal(raw.Bytes(), &back), r.HTML(&before), back.HTML(&after)); err != nil {
		t.Fatal(err)
	}
	if before.String() != after.String() {
		t.Error("a report read back from its JSON shows another page")
	}
}

func TestPageIsWellFormedAndNeedsNothingElse(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`(?i)https?:|//[a-z]|\b(src|href|action)=|url\(|@import|<script`)
	for name, r := range map[string]*Report{"full": exampleReport(), "empty": {}} {
		var page bytes.Buffer
		if err := r.HTML(&page); err != nil {
			t.Fatal(err)
		}
		if found := link.FindString(page.String()); found != "" {
			t.Errorf("%s: the page holds %q", name, found)
		}
		dec := xml.NewDecoder(bytes.NewReader(page.Bytes()))
		elements := map[string]int{}
		for {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if e, ok := token.(xml.StartElement); ok {
				elements[e.Name.Local]++
			}
		}
		charts := map[string]int{"full": 4}[name]
		if elements["svg"] != charts || (charts > 0 && (elements["rect"] < 6 || elements["polyline"] != 4)) {
			t.Errorf("%s: elements %v", name, elements)
		}
	}
}

func TestPercentilesAreNearestRank(t *testing.T) {
	t.Parallel()
	if got, want := spreadOf([]int64{50, 15, 40, 20, 35}), (Spread{5, 35, 50, 50, 50}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Int64Range(0, 100_000), 1, 300).Draw(t, "samples")
		s := spreadOf(samples)
		for percent, got := range map[int]int64{50: s.P50, 95: s.P95, 99: s.P99, 100: s.Max} {
			atMost, below := 0, 0
			for _, x := range samples {
				if x <= got {
					atMost++
				}
				if x < got {
					below++
				}
			}
			if atMost*100 < percent*len(samples) || below*100 >= percent*len(samples) {
				t.Fatalf("p%d is %d: %d at most, %d below, of %d", percent, got, atMost, below, len(samples))
			}
		}
		counted := 0
		histogram := histogramOf(samples)
		for _, b := range histogram {
			counted += b.Count
		}
		if counted != len(samples) || len(histogram) > buckets {
			t.Fatalf("%d buckets count %d of %d", len(histogram), counted, len(samples))
		}
	})
}

func TestPlanIsRepeatable(t *testing.T) {
	t.Parallel()
	cfg := BurstConfig{Tickets: 500, Over: 5 * time.Second, Seed: 7, CancelShare: 0.1}.withDefaults()
	a, b := planBurst(cfg, 3, "x"), planBurst(cfg, 3, "x")
	texts, cancels := map[string]bool{}, 0
	languages := map[string]int{}
	for i := range a {
		if *a[i] != *b[i] {
			t.Fatalf("job %d: %+v and %+v", i, *a[i], *b[i])
		}
		if want := time.Duration(i) * 10 * time.Millisecond; a[i].due != want {
			t.Errorf("job %d is due at %s, want %s", i, a[i].due, want)
		}
		texts[a[i].text] = true
		languages[chat.Language(a[i].text, "")]++
		if a[i].cancelAfter > 0 {
			cancels++
		}
		if err := chat.CheckMessage("message", a[i].text); err != nil {
			t.Error(err)
		}
	}
	if len(texts) != 500 || cancels < 25 || cancels > 80 || languages[chat.Chinese] < 150 || languages[chat.English] < 150 {
		t.Errorf("%d texts, %d cancels, languages %v", len(texts), cancels, languages)
	}
}

func TestTheLastTenthOfATicketsWayAreTheChecks(t *testing.T) {
	t.Parallel()
	c := counts{total: 20}
	c.sent.Store(20)
	c.refused.Store(1)
	c.ended.Store(10)
	c.checked.Store(4)
	if done, total := c.Way(); done != 10+90+4 || total != 200 {
		t.Errorf("way %d of %d", done, total)
	}
	if got, want := c.String(), "sent 20, ended 10, refused 1, open 9"; got != want {
		t.Errorf("counts %q, want %q", got, want)
	}
}
