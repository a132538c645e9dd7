package ledger

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func FuzzCleanJSON(f *testing.F) {
	for _, seed := range []string{`{"a":"\u0000"}`, `"\ud800"`, `["\\u0000"]`, "\"\xff\"", `{} {}`, `12e999`, ``, `{"\u0000a":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, ok := cleanJSON(body)
		if ok != json.Valid(body) {
			t.Fatalf("valid is %v, taken %v", json.Valid(body), ok)
		}
		if !ok {
			return
		}
		if !json.Valid([]byte(out)) || !utf8.ValidString(out) {
			t.Fatalf("%q is not clean", out)
		}
		var value any
		if json.Unmarshal([]byte(out), &value) == nil && holdsNUL(value) {
			t.Fatalf("%q holds a NUL", out)
		}
	})
}

func holdsNUL(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "\x00")
	case []any:
		if slices.ContainsFunc(v, holdsNUL) {
			return true
		}
	case map[string]any:
		for key, e := range v {
			if holdsNUL(key) || holdsNUL(e) {
				return true
			}
		}
	}
	return false
}

func TestCleanJSONLeavesAGoodBodyAlone(t *testing.T) {
	t.Parallel()
	const body = `{ "b": 1.50, "a": "<é>" }`
	if got, ok := cleanJSON(json.RawMessage(body)); !ok || got != body {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestWantedMonthsBeginInUTC(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 8*3600)
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	events := []EventRow{{At: time.Date(2026, 3, 1, 7, 0, 0, 0, east)}, {At: time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC)}}
	var names []string
	for _, month := range wantedMonths(events, now) {
		name := partition(month)
		names = append(names, name)
		if back, ok := parsePartition(name); !ok || !back.Equal(month) {
			t.Errorf("%s is read as %v, %v", name, back, ok)
		}
	}
	if got, want := strings.Join(names, " "), "talk_events_2026_01 talk_events_2026_02 talk_events_2025_12"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
