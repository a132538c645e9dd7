package rules

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestADifferenceNamesPathsAndValues(t *testing.T) {
	t.Parallel()
	before := "retention: {tickets: 90d}\nvendors:\n  - {name: a, quota: 60}\n  - {name: b, quota: 60}\nsms: {countries: [CN]}\n"
	for name, c := range map[string]struct {
		after   string
		was, is map[string]any
	}{
		"nothing":   {before, nil, nil},
		"a comment": {"# so\n" + before, nil, nil},
		"a value":   {strings.Replace(before, "a, quota: 60", "a, quota: 10", 1), map[string]any{"vendors[a].quota": "60"}, map[string]any{"vendors[a].quota": "10"}},
		"one gone": {strings.Replace(before, "  - {name: b, quota: 60}\n", "", 1),
			map[string]any{"vendors": "a, b", "vendors[b].name": "b", "vendors[b].quota": "60"}, map[string]any{"vendors": "a"}},
		"another order": {"retention: {tickets: 90d}\nvendors:\n  - {name: b, quota: 60}\n  - {name: a, quota: 60}\nsms: {countries: [CN]}\n",
			map[string]any{"vendors": "a, b"}, map[string]any{"vendors": "b, a"}},
		"one more": {before + "log: {level: debug}\n", nil, map[string]any{"log.level": "debug"}},
		"an item":  {strings.Replace(before, "[CN]", "[CN, HK]", 1), nil, map[string]any{"sms.countries[1]": "HK"}},
		"a long text": {before + "text: " + strings.Repeat("长", 100) + "\n", nil,
			map[string]any{"text": strings.Repeat("长", shownText) + "…"}},
	} {
		was, is := Differences([]byte(before), []byte(c.after))
		if !maps.Equal(was, c.was) || !maps.Equal(is, c.is) {
			t.Errorf("%s: %v became %v; want %v and %v", name, was, is, c.was, c.is)
		}
	}
}

func TestADifferenceIsBounded(t *testing.T) {
	t.Parallel()
	var doc strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&doc, "k%04d: %d\n", i, i)
	}
	was, is := Differences(nil, []byte(doc.String()))
	if len(was) != 0 || len(is) != shownValues+1 || is["…"] != fmt.Sprint("and ", 1000-shownValues, " more") || is["k0000"] != "0" {
		t.Errorf("%v became %v", was, is)
	}
}
