package rules

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var until = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func TestForceIsPutWhereItStandsAndTheRestKeepsItsText(t *testing.T) {
	t.Parallel()
	const set = "{level: 2, until: 2030-01-02T03:04:05Z}"
	for name, c := range map[string]struct{ doc, want string }{
		"null":          {"valve:\n  force: null # none\n  hold: 2m\n", "valve:\n  force: " + set + " # none\n  hold: 2m\n"},
		"nothing":       {"valve:\n  force:\n  hold: 2m\n", "valve:\n  force: " + set + "\n  hold: 2m\n"},
		"flow":          {"valve: {hold: 2m, force: null}\n", "valve: {hold: 2m, force: " + set + "}\n"},
		"flow without":  {"valve: {hold: 2m}  # 阀\n", "valve: {hold: 2m, force: " + set + "}  # 阀\n"},
		"empty flow":    {"valve: {}\n", "valve: {force: " + set + "}\n"},
		"another":       {"valve: {force: {level: 1, until: 2029-01-01T00:00:00Z}}\n", "valve: {force: " + set + "}\n"},
		"a block":       {"valve:\n  force:\n    level: 1\n    until: 2029-01-01T00:00:00Z\n  hold: 2m\n", "valve:\n  force: " + set + "\n  hold: 2m\n"},
		"block without": {"# 规则\nvalve:\n  hold: 2m # two\n  window: 5m\n", "# 规则\nvalve:\n  hold: 2m # two\n  force: " + set + "\n  window: 5m\n"},
		"only hold":     {"valve:\n  hold: 2m", "valve:\n  hold: 2m\n  force: " + set + "\n"},
		"empty heading": {"valve:\nreplicas: 1\n", "valve: {force: " + set + "}\nreplicas: 1\n"},
		"no heading":    {"lanes:\n  high: {bound: 7} # seven\nreplicas: 1\n", "lanes:\n  high: {bound: 7} # seven\nvalve: {force: " + set + "}\nreplicas: 1\n"},
		"other root":    {"replicas: 1", "replicas: 1\nvalve: {force: " + set + "}\n"},
		"empty":         {"", "valve: {force: " + set + "}\n"},
		"empty braces":  {"{}", "{valve: {force: " + set + "}}"},
		"line ends":     {"valve:\r\n  hold: 2m\r\n", "valve:\n  hold: 2m\n  force: " + set + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := WithForce([]byte(c.doc), &Force{Level: 2, Until: until})
			if err != nil || string(got) != c.want {
				t.Fatalf("%v\n%s\nwant\n%s", err, got, c.want)
			}
			lifted, err := WithForce(got, nil)
			if err != nil || !strings.Contains(string(lifted), "force: null") {
				t.Errorf("lifted: %v\n%s", err, lifted)
			}
		})
	}
}

func TestTheShippedDocumentIsEditedInOneLine(t *testing.T) {
	t.Parallel()
	forced, err := WithForce(Default(), &Force{Level: 3, Until: until})
	if err != nil {
		t.Fatal(err)
	}
	changed, err := WithVendor(forced, "b", VendorChange{Quota: new(10), Headroom: new(0.5), QPS: new(7), TokensPerMinute: new(9)})
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(Default()), "\n"), strings.Split(string(changed), "\n")
	different := 0
	for _, line := range is {
		if !strings.Contains(string(Default()), line) {
			different++
		}
	}
	if different != 5 || len(is) != len(was)+2 {
		t.Errorf("%d lines differ, %d lines more; want 5 (force, quota, headroom and two that were left out) and 2", different, len(is)-len(was))
	}
	r, err := Parse("", changed)
	if err != nil {
		t.Fatal(err)
	}
	if b := r.Vendors[1]; b.Quota != 10 || b.Headroom != 0.5 || b.QPS != 7 || b.TokensPerMinute != 9 || r.Valve.Force.Level != 3 {
		t.Errorf("%+v, force %+v", b, r.Valve.Force)
	}
}

func TestVendorsAreChangedInEveryLayout(t *testing.T) {
	t.Parallel()
	flow := "vendors: [{name: a, quota: 5, endpoints: [{url: 'http://a/v1'}], models: {strong: m, light: m}}]\n"
	block := "vendors:\n- name: a # the first\n  quota: 5\n  endpoints: [{url: 'http://a/v1'}]\n  models:\n    strong: m\n    light: m\n"
	for _, doc := range []string{flow, block} {
		got, err := WithVendor([]byte(doc), "a", VendorChange{Quota: new(50), Elastic: new(0.25)})
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		r, err := Parse("", got)
		if err != nil || r.Vendors[0].Quota != 50 || r.Vendors[0].Elastic != 0.25 || strings.Contains(doc, "#") != strings.Contains(string(got), "# the first\n") {
			t.Errorf("%v\n%s", err, got)
		}
	}
}

func TestAnEditThatIsWrongSaysWhere(t *testing.T) {
	t.Parallel()
	if _, err := WithVendor(Default(), "z", VendorChange{Quota: new(1)}); !errors.Is(err, ErrNoVendor) {
		t.Errorf("unknown vendor: %v", err)
	}
	if _, err := WithVendor([]byte("replicas: 1"), "a", VendorChange{Quota: new(1)}); !errors.Is(err, ErrNoVendor) {
		t.Errorf("vendor that is only shipped: %v", err)
	}
	_, err := WithVendor(Default(), "a", VendorChange{Quota: new(0)})
	if faults := Faults(err); len(faults) != 1 || faults[0].Field != "vendors[0].quota" || faults[0].Line != 21 {
		t.Errorf("%v", err)
	}
	_, err = WithForce(Default(), &Force{Level: 4, Until: until})
	if faults := Faults(err); len(faults) != 1 || faults[0].Field != "valve.force.level" {
		t.Errorf("%v", err)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add(string(Default()))
	f.Add("valve: {force: null}")
	f.Add("valve:\n  force:\n    level: 1\n    until: 2029-01-01T00:00:00Z\n")
	f.Fuzz(func(t *testing.T, doc string) {
		if _, err := Parse("", []byte(doc)); err != nil {
			return
		}
		got, err := WithForce([]byte(doc), &Force{Level: 1, Until: until})
		if err != nil {
			return // refused, and nothing changed
		}
		r, err := Parse("", got)
		if err != nil || r.Valve.Force == nil || r.Valve.Force.Level != 1 {
			t.Errorf("%v\n%s", err, got)
		}
	})
}

func TestBlameFindsThePlaceOfAField(t *testing.T) {
	t.Parallel()
	doc := []byte("lanes:\n  high: {bound: 7}\nreplicas: 3\n")
	for field, want := range map[string]string{
		"replicas":         "r:3:1: replicas: must stay 1",
		"lanes.high.bound": "r:2:10: lanes.high.bound: must stay 1",
		"vendors[0].kind":  "r:1:1: vendors[0].kind: must stay 1",
	} {
		if got := Blame("r", doc, field, "must stay 1").Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
