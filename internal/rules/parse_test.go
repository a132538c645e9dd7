package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
)

var update = flag.Bool("update", false, "write the golden file anew")

func TestDefaultIsWhatTheGoldenFileSays(t *testing.T) {
	t.Parallel()
	rules, err := Parse("default.yaml", Default())
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(rules, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/default.json"
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != strings.TrimSpace(string(want)) {
		t.Error("the parsed default differs from testdata/default.json; see go test -update")
	}
}

func TestEmptyDocumentsHaveTheShippedRules(t *testing.T) {
	t.Parallel()
	want, err := Parse("default.yaml", Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{"", "\n", "# nothing\n", "{}", "---\n", "lanes:\n", "\ufefflanes: {}\r\n"} {
		got, err := Parse("r.yaml", []byte(doc))
		if err != nil {
			t.Errorf("%q: %v", doc, err)
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: differs from the shipped rules", doc)
		}
	}
}

func TestMissingKeysKeepTheirDefaults(t *testing.T) {
	t.Parallel()
	r, err := Parse("r.yaml", []byte(`
lanes:
  normal: {bound: 7}
  batch: {age: 1d}
vendors:
  - {name: solo, quota: 10, endpoints: [{url: "https://llm.example/v1"}], models: {strong: x, light: {name: y, permits: 3}}}
intents:
  - {name: hours, template: {zh: 早上九点, en: from nine}}
valve: {force: {level: 2, until: 2030-01-02T03:04:05Z}}
sms: {quiet_hours: {from: "22:00", until: "08:00"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if l := r.Lanes[chat.Normal]; l != (Lane{Bound: 7, MaxWait: 10 * time.Second, Age: 20 * time.Second, Share: 1}) {
		t.Errorf("normal: %+v", l)
	}
	if l := r.Lanes[chat.Deferred]; l.Age != 5*time.Minute || l.Bound != 10_000 {
		t.Errorf("deferred: %+v", l)
	}
	if l := r.Lanes[chat.Batch]; l.Age != 24*time.Hour || l.Share != 0.5 {
		t.Errorf("batch: %+v", l)
	}
	v := r.Vendors[0]
	if v.Kind != KindOpenAI || v.Limit() != 8 || v.Timeouts.ReleaseAfterCancel != 250*time.Millisecond ||
		v.Endpoints[0].Weight != 1 || !v.Warmup || v.Models["strong"].Name != "x" || v.Models["light"].Permits != 3 {
		t.Errorf("vendor: %+v", v)
	}
	want := map[string]Chain{
		ChainAgent: {Vendors: []string{"solo"}, Model: "strong", MaxSteps: 6},
		ChainRAG:   {Vendors: []string{"solo"}, Model: "light", MaxSteps: 1},
	}
	if !reflect.DeepEqual(r.Chains, want) {
		t.Errorf("chains: %+v", r.Chains)
	}
	if n := len(r.Intents); n != 17 || r.Intents[0].Name != "hours" || r.Intents[n-1].Name != Other {
		t.Errorf("intents: %+v", r.Intents)
	}
	if f := r.Valve.Force; f == nil || f.Level != 2 || f.Until.Year() != 2030 {
		t.Errorf("force: %+v", f)
	}
	if q := r.SMS.QuietHours; q == nil || q.Zone != "UTC" || q.From != "22:00" {
		t.Errorf("quiet hours: %+v", q)
	}
}

func TestATenantHasTheRateOfAllUnlessItHasItsOwn(t *testing.T) {
	t.Parallel()
	r, err := Parse("r.yaml", []byte(`
tenants:
  shop: {weight: 2.5, burst: 7}
  123: {qps: 3, tokens_per_minute: 9000, daily: 500, language: zh}
  plain:
intake: {tenant: {qps: 20}}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Allowance{
		"shop": {Weight: 2.5, QPS: 20, Burst: 7, Language: "en"}, "plain": {Weight: 1, QPS: 20, Burst: 200, Language: "en"},
		"123": {Weight: 1, QPS: 3, Burst: 200, TokensPerMinute: 9000, Daily: 500, Language: "zh"},
	}
	if !reflect.DeepEqual(r.Tenants, want) {
		t.Errorf("tenants: %+v, want %+v", r.Tenants, want)
	}
}

func TestNullTakesForceAndQuietHoursAway(t *testing.T) {
	t.Parallel()
	r, err := Parse("r.yaml", []byte("valve: {force: null}\nsms:\n  quiet_hours:\n"))
	if err != nil || r.Valve.Force != nil || r.SMS.QuietHours != nil {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestLimitIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quota             int
		headroom, elastic float64
		limit, lent       int
	}{
		{60, 0.8, 0.375, 48, 18},
		{30, 0.8, 0.375, 24, 9},
		{100, 0.29, 0, 29, 0}, // 28.999999999999996 in binary
		{100, 0.57, 0.07, 57, 3},
		{10, 0.7, 0.1, 7, 0},
		{1, 0.8, 0.9, 1, 0},
		{1, 1e-9, 0, 1, 0},
		{1_000_000_000, 1, 0.999, 1_000_000_000, 999_000_000},
	} {
		v := Vendor{Quota: c.quota, Headroom: c.headroom, Elastic: c.elastic}
		if v.Limit() != c.limit || v.ElasticLimit() != c.lent {
			t.Errorf("%d × %v, %v: %d, %d, want %d, %d", c.quota, c.headroom, c.elastic, v.Limit(), v.ElasticLimit(), c.limit, c.lent)
		}
	}
}

func TestDurationsTakeDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "90d": 90 * 24 * time.Hour, "1d12h": 36 * time.Hour, "1h30m": 90 * time.Minute, "0": 0, "36500d": 36_500 * 24 * time.Hour,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "10", "1.5d", "-1d", "36501d", "999999d", "1d2d", "1h2d", "ten", "9999999h"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestDamageGivesAFaultWithALine(t *testing.T) {
	t.Parallel()
	doc := Default()
	rapid.Check(t, func(t *rapid.T) {
		damaged := bytes.Clone(doc)
		i := rapid.IntRange(0, len(doc)-1).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			damaged[i] = rapid.Byte().Draw(t, "byte")
		case 1:
			damaged = append(damaged[:i], damaged[i+1:]...)
		case 2:
			damaged = append(damaged[:i], append([]byte{rapid.Byte().Draw(t, "byte")}, doc[i:]...)...)
		}
		wellFormed(t, damaged)
	})
}

// wellFormed checks what holds for every text: rules or faults, each in one line.
func wellFormed(t interface {
	Helper()
	Fatalf(string, ...any)
}, doc []byte) {
	t.Helper()
	rules, err := Parse("r.yaml", doc)
	if err == nil {
		if len(rules.Lanes) != 5 || len(rules.Vendors) == 0 || rules.Replicas == 0 {
			t.Fatalf("incomplete rules: %+v", rules)
		}
		return
	}
	faults := Faults(err)
	if rules != nil || len(faults) == 0 {
		t.Fatalf("an error without faults, or with rules: %v", err)
	}
	lines := bytes.Count(doc, []byte("\n")) + bytes.Count(doc, []byte("\r")) + 1
	for _, f := range faults {
		if f.Line < 1 || f.Line > lines || f.Column < 1 || f.Reason == "" || strings.ContainsAny(f.Error(), "\n\r") {
			t.Fatalf("bad fault %#v of %d lines", f, lines)
		}
	}
	if got := strings.Split(err.Error(), "\n"); len(got) != len(faults) {
		t.Fatalf("%d lines for %d faults", len(got), len(faults))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Default())
	for _, c := range faulty {
		f.Add([]byte(c.doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) { wellFormed(t, doc) })
}

func TestFaultsTakesTheErrorApart(t *testing.T) {
	t.Parallel()
	_, err := Parse("r.yaml", []byte("replicas: 2\nlanes: {low: {bound: 0}}\n"))
	if got := Faults(fmt.Errorf("put rules: %w", err)); len(got) != 2 || got[0].Field != "replicas" || got[1].Field != "lanes.low.bound" {
		t.Errorf("got %v", got)
	}
	var one *Fault
	if !errors.As(err, &one) || one.Line != 1 {
		t.Errorf("errors.As: %v", one)
	}
	if Faults(errors.New("other")) != nil || Faults(nil) != nil {
		t.Error("faults of an error without any")
	}
}
