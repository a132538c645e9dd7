//go:build e2e

package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var secretLine = regexp.MustCompile(`(?m)^secret key +(sk_\S+)$`)

func TestTenantsAreKeptThroughTheSocket(t *testing.T) {
	i := start(t, setup{})
	tenant := func(args ...string) (int, string, string) {
		return run(t, []string{"SLUICE_DATA=" + i.dir}, append([]string{"tenant"}, args...)...)
	}
	code, out, stderr := tenant("add", "shop-1", "--lane", "normal")
	secret := secretLine.FindStringSubmatch(out)
	if code != 0 || secret == nil {
		t.Fatalf("tenant add: exit code %d, %q, %q", code, out, stderr)
	}
	i.key = secret[1]
	i.ask(question{Message: "Where is my parcel?"})
	_, err := i.submit(question{Message: "Where is my parcel?", Lane: "high"}, "")
	refused(t, err, http.StatusForbidden, "lane_not_allowed")

	if code, out, _ := tenant("list"); code != 0 || !strings.Contains(out, "demo") || !strings.Contains(out, "shop-1") || strings.Contains(out, "sk_") {
		t.Errorf("tenant list: exit code %d, %q, want both names and no key", code, out)
	}

	code, out, stderr = tenant("key", "shop-1")
	renewed := secretLine.FindStringSubmatch(out)
	if code != 0 || renewed == nil {
		t.Fatalf("tenant key: exit code %d, %q, %q", code, out, stderr)
	}
	_, err = i.submit(question{Message: "And now?"}, "")
	refused(t, err, http.StatusUnauthorized, "unauthorized")
	i.key = renewed[1]
	i.ask(question{Message: "And now?"})

	for _, former := range []bool{false, true} {
		code, out, stderr := tenant("webhook-secret", "shop-1")
		if code != 0 || !strings.Contains(out, "webhook secret whsec_") || strings.Contains(out, "former") != former {
			t.Errorf("tenant webhook-secret: exit code %d, %q, %q", code, out, stderr)
		}
	}

	for _, c := range []struct{ args, words []string }{
		{[]string{"webhook-secret", "nobody"}, []string{"no such tenant"}},
		{[]string{"add", "shop-1"}, []string{"tenant_exists"}},
		{[]string{"add", "Shop 1"}, []string{"name", "a-z 0-9 -"}},
		{[]string{"key", "nobody"}, []string{"no such tenant"}},
	} {
		code, _, stderr := tenant(c.args...)
		oneLine(t, code, stderr, c.words...)
	}
}

func TestOperatorsAreKeptThroughTheSocket(t *testing.T) {
	i := start(t, setup{})
	operator := func(args ...string) (int, string, string) {
		return run(t, []string{"SLUICE_DATA=" + i.dir}, append([]string{"operator"}, args...)...)
	}
	line := regexp.MustCompile(`(?m)^password (\S{20})$`)
	code, out, stderr := operator("add", "mei", "--role", "viewer")
	first := line.FindStringSubmatch(out)
	if code != 0 || first == nil || !strings.Contains(out, "operator mei (viewer)") {
		t.Fatalf("operator add: exit code %d, %q, %q", code, out, stderr)
	}
	if code, out, _ := operator("list"); code != 0 || !strings.Contains(out, "admin") || !strings.Contains(out, "viewer") || !strings.Contains(out, "never") {
		t.Errorf("operator list: exit code %d, %q", code, out)
	}
	code, out, stderr = operator("password", "mei")
	second := line.FindStringSubmatch(out)
	if code != 0 || second == nil || second[1] == first[1] {
		t.Fatalf("operator password: exit code %d, %q, %q", code, out, stderr)
	}
	for _, c := range []struct{ args, words []string }{
		{[]string{"add", "mei"}, []string{"exists"}},
		{[]string{"add", "Mei L"}, []string{"name", "a-z 0-9 -"}},
		{[]string{"password", "nobody"}, []string{"no such operator"}},
	} {
		code, _, stderr := operator(c.args...)
		oneLine(t, code, stderr, c.words...)
	}
}

func TestACommandWithoutAnInstanceSaysSo(t *testing.T) {
	dir := newDir(t)
	for _, args := range [][]string{{"tenant", "list"}, {"tenant", "add", "shop"}, {"tenant", "key", "demo"}, {"operator", "list"}, {"load", "burst"}} {
		code, _, stderr := run(t, nil, append(args, "--data", dir)...)
		oneLine(t, code, stderr, "no sluice runs on this data directory")
	}
	// A socket that a killed process left behind is no instance either.
	i := start(t, setup{dir: dir})
	i.kill()
	code, _, stderr := run(t, nil, "tenant", "list", "--data", dir)
	oneLine(t, code, stderr, "no sluice runs on this data directory")
}

func TestCheckFindsEveryFault(t *testing.T) {
	if code, out, stderr := run(t, nil, "check"); code != 0 || !strings.Contains(out, "no fault") {
		t.Errorf("check of the shipped rules: exit code %d, %q, %q", code, out, stderr)
	}
	if code, out, stderr := run(t, nil, "check", "--rules", rulesFile(t, patientRules)); code != 0 || !strings.Contains(out, "3 vendors") {
		t.Errorf("check of good rules: exit code %d, %q, %q", code, out, stderr)
	}

	faulty := rulesFile(t, "lanes:\n  high: {bound: 0}\nvalve:\n  hold: soon\nlane: {}\n")
	code, _, stderr := run(t, nil, "check", "--rules", faulty)
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if code != 1 || len(lines) != 3 {
		t.Fatalf("check of rules with 3 faults: exit code %d, %q", code, stderr)
	}
	for k, at := range []string{":2:10: lanes.high.bound: ", ":4:3: valve.hold: ", ":5:1: lane: "} {
		if !strings.Contains(lines[k], faulty+at) {
			t.Errorf("line %d is %q, want the fault at %s", k+1, lines[k], at)
		}
	}

	code, _, stderr = run(t, []string{noDatabase}, "check")
	oneLine(t, code, stderr, "database: ")
	away := rulesFile(t, `vendors: [{name: a, endpoints: [{url: "http://127.0.0.1:1/v1"}], models: {strong: m, light: m}, quota: 10}]`)
	code, _, stderr = run(t, nil, "check", "--rules", away)
	oneLine(t, code, stderr, "vendor a: ")
}
