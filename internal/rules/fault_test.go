package rules

import (
	"fmt"
	"strings"
	"testing"
)

const vendorA = `vendors:
  - name: a
    quota: 60
    endpoints: [{url: "http://127.0.0.1:1/v1"}]
    models: {strong: l, light: s}
`

// faulty are documents and the exact lines they are refused with.
var faulty = []struct {
	name string
	doc  string
	want []string
}{
	{"bound", "lanes:\n  high:\n    bound: 0\n", []string{"r.yaml:3:5: lanes.high.bound: must be at least 1, is 0"}},
	{"bound in flow style", "lanes:\n  high: {max_wait: 5s, bound: -2}\n", []string{"r.yaml:2:24: lanes.high.bound: must be at least 1, is -2"}},
	{"max_wait", "lanes: {low: {max_wait: 999ms}}", []string{"r.yaml:1:15: lanes.low.max_wait: must be at least 1s, is 999ms"}},
	{"age", "lanes: {low: {age: 0s}}", []string{"r.yaml:1:15: lanes.low.age: must be at least 1s, is 0s"}},
	{"share", "lanes: {batch: {share: 1.5}}", []string{"r.yaml:1:17: lanes.batch.share: must be above 0 and at most 1, is 1.5"}},
	{"lane", "lanes: {norml: {bound: 1}}", []string{`r.yaml:1:9: lanes.norml: is not a known key; did you mean "normal"?`}},
	{"typo", "lanes:\n  high: {bund: 1}\n", []string{`r.yaml:2:10: lanes.high.bund: is not a known key; did you mean "bound"?`}},
	{"nothing near", "zzzzzzzz: 1", []string{"r.yaml:1:1: zzzzzzzz: is not a known key; known here: alerts, cache, chains, intake, intents, knowledge, lanes, max_deliver, replicas, retention, sms, sockets, tenants, tools, valve, vendors, webhooks"}},
	{"strange key", "\"a\\nb\": 1", []string{`r.yaml:1:1: "a\nb": is not a known key; known here: alerts, cache, chains, intake, intents, knowledge, lanes, max_deliver, replicas, retention, sms, sockets, tenants, tools, valve, vendors, webhooks`}},
	{"number for duration", "lanes: {high: {max_wait: 10}}", []string{"r.yaml:1:16: lanes.high.max_wait: must be a duration such as 10s, 5m or 90d, is 10"}},
	{"text for number", "replicas: \"1\"", []string{`r.yaml:1:1: replicas: must be a whole number of at most 1000000000, is "1"`}},
	{"fraction for number", "replicas: 1.5", []string{"r.yaml:1:1: replicas: must be a whole number of at most 1000000000, is 1.5"}},
	{"huge number", "intake: {tenant: {qps: 99999999999999999999}}", []string{"r.yaml:1:19: intake.tenant.qps: must be a whole number of at most 1000000000, is \"99999999999999999999\""}},
	{"not a number", "intake: {tighten: {at: .nan}}", []string{"r.yaml:1:20: intake.tighten.at: must be a number such as 0.5, is .nan"}},
	{"text for truth", "intake: {predict: yes}", []string{`r.yaml:1:10: intake.predict: must be true or false, is "yes"`}},
	{"null for number", "replicas:\nlanes: {}", []string{"r.yaml:1:1: replicas: must be a whole number of at most 1000000000, is empty"}},
	{"list for mapping", "lanes: [1]", []string{"r.yaml:1:1: lanes: must be a mapping of keys, is a list"}},
	{"mapping for list", "vendors: {a: 1}", []string{"r.yaml:1:1: vendors: must be a list, is a mapping"}},
	{"list for root", "- 1", []string{"r.yaml:1:1: must be a mapping of keys, is a list"}},
	{"scalar for root", "hello", []string{`r.yaml:1:1: must be a mapping of keys, is "hello"`}},
	{"tighten", "intake: {tighten: {at: 0.4}}", []string{"r.yaml:1:10: intake.tighten.until: must be at most intake.tighten.at, which is 0.4, is 0.5"}},
	{"tenant", "tenants:\n  shop: {qps: 0}\n", []string{"r.yaml:2:10: tenants.shop.qps: must be at least 1, is 0"}},
	{"tenant's numbers", "tenants: {shop: {weight: 0, burst: 0, tokens_per_minute: -1, daily: -1}}", []string{
		"r.yaml:1:18: tenants.shop.weight: must be above 0 and at most 1000, is 0",
		"r.yaml:1:29: tenants.shop.burst: must be at least 1, is 0",
		"r.yaml:1:39: tenants.shop.tokens_per_minute: must be at least 0, is -1",
		"r.yaml:1:62: tenants.shop.daily: must be at least 0, is -1"}},
	{"tenant's weight", "tenants: {shop: {weight: 1000.5}}", []string{"r.yaml:1:18: tenants.shop.weight: must be above 0 and at most 1000, is 1000.5"}},
	{"tenant's name", "tenants:\n  a: {}\n  Shop: {}\n  \"a b\": {daily: 1}\n", []string{
		"r.yaml:3:3: tenants.Shop: must be the name of a tenant: 1 to 32 of a-z 0-9 -",
		"r.yaml:4:3: tenants.\"a b\": must be the name of a tenant: 1 to 32 of a-z 0-9 -"}},
	{"tenant's typo", "tenants: {shop: {dayly: 1}}", []string{`r.yaml:1:18: tenants.shop.dayly: is not a known key; did you mean "daily"?`}},
	{"max_deliver", "max_deliver: 0", []string{"r.yaml:1:1: max_deliver: must be at least 1, is 0"}},
	{"max_deliver", "max_deliver: 101", []string{"r.yaml:1:1: max_deliver: must be at most 100, is 101"}},
	{"replicas", "replicas: 2", []string{"r.yaml:1:1: replicas: must be 1, 3 or 5, is 2"}},
	{"sockets", "sockets: {max: 20001, opens: 0, proxies: [10.0.0.0/8, 10.0.0.1], spread: 500ms}", []string{
		"r.yaml:1:11: sockets.max: must be at most 20000, is 20001",
		"r.yaml:1:23: sockets.opens: must be above 0 and at most 1000000, is 0",
		"r.yaml:1:55: sockets.proxies[1]: must be a network such as 10.0.0.0/8, is \"10.0.0.1\"",
		"r.yaml:1:66: sockets.spread: must be at least 1s, is 500ms",
	}},
	{"retention", "retention: {tickets: 90}", []string{"r.yaml:1:13: retention.tickets: must be a duration such as 10s, 5m or 90d, is 90"}},
	{"cache", "cache: {jitter: -1s}", []string{"r.yaml:1:9: cache.jitter: must be at least 0s, is -1s"}},

	{"vendor name", strings.Replace(vendorA, "name: a", "name: A_1", 1), []string{`r.yaml:2:5: vendors[0].name: must be 1 to 32 of a-z 0-9 -, is "A_1"`}},
	{"no vendor", "vendors: []", []string{"r.yaml:1:1: vendors: must hold at least one vendor"}},
	{"same vendor", vendorA + strings.TrimPrefix(vendorA, "vendors:\n") + "chains: {agent: {vendors: [a]}, rag: {vendors: [a]}}", []string{`r.yaml:6:5: vendors[1].name: must be unique, vendors[0] is "a" too`}},
	{"quota", strings.Replace(vendorA, "60", "0", 1), []string{"r.yaml:3:5: vendors[0].quota: must be at least 1, is 0"}},
	{"no quota", strings.Replace(vendorA, "quota: 60", "qps: 0", 1), []string{"r.yaml:2:5: vendors[0].quota: must be at least 1, is 0"}},
	{"headroom", vendorA + "    headroom: 1.01\n", []string{"r.yaml:6:5: vendors[0].headroom: must be above 0 and at most 1, is 1.01"}},
	{"elastic", vendorA + "    elastic: 1\n", []string{"r.yaml:6:5: vendors[0].elastic: must be at least 0 and below 1, is 1"}},
	{"kind", vendorA + "    kind: azure\n", []string{`r.yaml:6:5: vendors[0].kind: must be one of openai, anthropic, ollama, is "azure"`}},
	{"url", strings.Replace(vendorA, "http:", "ftp:", 1), []string{"r.yaml:4:18: vendors[0].endpoints[0].url: must be an address that begins with http:// or https://"}},
	{"url with a password", strings.Replace(vendorA, "127", "me:secret@127", 1), []string{"r.yaml:4:18: vendors[0].endpoints[0].url: must have no user, query or fragment; the key belongs into the variable of key_env"}},
	{"key itself", strings.Replace(vendorA, "{url", "{key_env: sk-secret, url", 1), []string{"r.yaml:4:18: vendors[0].endpoints[0].key_env: must be the name of an environment variable, not a key"}},
	{"release", vendorA + "    timeouts:\n      release_after_cancel: 501ms\n", []string{"r.yaml:7:7: vendors[0].timeouts.release_after_cancel: must be at most 500ms, is 501ms"}},
	{"timeout", vendorA + "    timeouts: {gap: 0s}\n", []string{"r.yaml:6:16: vendors[0].timeouts.gap: must be above 0s, is 0s"}},
	{"model permits", strings.Replace(vendorA, "strong: l", "strong: {name: l, permits: 49}", 1), []string{"r.yaml:5:32: vendors[0].models.strong.permits: must be at most the account's limit, which is 48, is 49"}},
	{"model missing", strings.Replace(vendorA, "light: s", "fast: s", 1), []string{"r.yaml:5:5: vendors[0].models.light: must be given: chain rag uses it"}},
	{"model of the chain", vendorA + "chains:\n  agent: {model: x}\n", []string{`r.yaml:7:11: chains.agent.model: must be a model of each of its vendors, a has no "x"`}},
	{"chain vendor", vendorA + "chains:\n  agent: {vendors: [a, z]}\n", []string{`r.yaml:7:24: chains.agent.vendors[1]: must be the name of a vendor, is "z"`}},
	{"chain", "chains: {faq: {}}", []string{`r.yaml:1:10: chains.faq: is not a known key; did you mean "rag"?`}},
	{"steps", "chains: {agent: {max_steps: 51}}", []string{"r.yaml:1:18: chains.agent.max_steps: must be at most 50, is 51"}},

	{"two levels", "valve: {levels: [{depth: 0.5, errors: 0.1, p99: 1s, wait: 1s}, {depth: 0.6, errors: 0.2, p99: 2s, wait: 2s}]}", []string{"r.yaml:1:9: valve.levels: must be three, for levels 1, 2 and 3, are 2"}},
	{"levels fall", "valve:\n  levels:\n  - {depth: 0.5, errors: 0.1, p99: 1s, wait: 1s}\n  - {depth: 0.5, errors: 0.2, p99: 2s, wait: 2s}\n  - {depth: 0.9, errors: 0.3, p99: 3s, wait: 1s}\n", []string{
		"r.yaml:4:6: valve.levels[1].depth: must be above that of the level before, which is 0.5, is 0.5",
		"r.yaml:5:40: valve.levels[2].wait: must be above that of the level before, which is 2s, is 1s"}},
	{"force without end", "valve: {force: {level: 4}}", []string{"r.yaml:1:9: valve.force.until: must be given: an operator's level has an end", "r.yaml:1:17: valve.force.level: must be given, 0 to 3, is 4"}},
	{"force time", "valve: {force: {level: 1, until: tomorrow}}", []string{`r.yaml:1:27: valve.force.until: must be a time such as 2026-01-31T18:00:00Z, is "tomorrow"`}},
	{"quiet hours", "sms: {quiet_hours: {from: \"22:00\", until: \"24:00\", zone: Mars/One}}", []string{
		`r.yaml:1:36: sms.quiet_hours.until: must be a time of day such as "22:00", is "24:00"`,
		`r.yaml:1:52: sms.quiet_hours.zone: must be an IANA time zone such as Asia/Shanghai, is "Mars/One"`}},
	{"country", "sms: {countries: [CN, usa]}", []string{`r.yaml:1:23: sms.countries[1]: must be a country code of two capitals such as CN, is "usa"`}},

	{"same intent", "intents:\n  - {name: x, template: {zh: 一, en: a}}\n  - {name: x, template: {zh: 一, en: a}}\n", []string{`r.yaml:3:6: intents[1].name: must be unique, intents[0] is "x" too`}},
	{"pattern", "intents:\n  - name: x\n    patterns: ['你好', '(']\n    template: {zh: 一, en: a}\n", []string{"r.yaml:3:22: intents[0].patterns[1]: must be an RE2 pattern: missing closing )"}},
	{"pattern for all", "intents:\n  - name: x\n    patterns:\n      - a*\n    template: {zh: 一, en: a}\n", []string{"r.yaml:4:9: intents[0].patterns[0]: must not fit the empty text"}},
	{"example of two", "intents:\n  - {name: x, examples: [a, b], template: {zh: 一, en: a}}\n  - {name: y, examples: [c, ' a '], template: {zh: 一, en: a}}\n", []string{`r.yaml:3:29: intents[1].examples[1]: must not be an example of "x" too`}},
	{"long example", "intents:\n  - {name: x, examples: [" + strings.Repeat("长", 501) + "], template: {zh: 一, en: a}}\n", []string{`r.yaml:2:26: intents[0].examples[0]: must hold at most 500 characters, has 501`}},
	{"other off", "intents:\n  - {name: other, off: true}\n", []string{"r.yaml:2:19: intents[0].off: must be false for other: its template is the last answer of all"}},
	{"off by a wrong name", "intents:\n  - {name: promos, off: true}\n", []string{`r.yaml:2:20: intents[0].off: is for shipped intents, and there is none named "promos"`}},
	{"template", "intents:\n  - name: x\n    template: {zh: 一}\n", []string{"r.yaml:3:5: intents[0].template.en: must be given"}},
	{"template of a language that is none", "intents:\n  - name: x\n    template:\n      zh: 一\n      en: a\n      zz: b\n", []string{"r.yaml:6:7: intents[0].template.zz: unknown language, must be zh or en"}},
	{"template of another shape", "intents:\n  - name: x\n    template: {zh: 一, en: {a: b}}\n", []string{"r.yaml:3:23: intents[0].template.en: must be a text (in quotes if need be), is a mapping"}},
	{"wordings", "intents:\n  - name: x\n    template:\n      zh: [一, '', 一]\n      en: []\n", []string{
		"r.yaml:4:15: intents[0].template.zh[1]: must not be blank",
		"r.yaml:4:19: intents[0].template.zh[2]: must be unique",
		"r.yaml:5:7: intents[0].template.en: must be given",
	}},
	{"gap", "intents:\n  - name: x\n    template: {zh: '{order}', en: ['a', '{user} b']}\n", []string{
		"r.yaml:3:16: intents[0].template.zh: must hold a text without gaps, for messages that name nothing",
		"r.yaml:3:41: intents[0].template.en[1]: must hold no other gaps than {order}, {tracking}, {name}, holds {user}",
	}},

	{"same key", "replicas: 1\nreplicas: 3\n", []string{`r.yaml:2:1: mapping key "replicas" already defined at [1:1]`}},
	{"open bracket", "lanes: {\n", []string{"r.yaml:1:8: could not find flow mapping end token '}'"}},
	{"anchor", "lanes: &a {}\ncache: *a\n", []string{"r.yaml:1:8: anchors, aliases and merge keys are not accepted"}},
	{"tag", "replicas: !!int 1\n", []string{"r.yaml:1:11: tags, directives and \"?\" keys are not accepted"}},
	{"two documents", "replicas: 1\n---\nreplicas: 3\n", []string{"r.yaml:2:1: must be one document"}},
	{"zero byte", "lanes: {}\nca\x00che: {}\n", []string{"r.yaml:2:3: must not hold the control character U+0000"}},
	{"bad UTF-8", "# 你\xff\n", []string{"r.yaml:1:4: must be valid UTF-8, has the byte 0xFF"}},
	{"after quoted lines", "chains:\r\n  agent: {model: \"a\r\n    b\"}\r\nreplicas: 2\r\n", []string{
		`r.yaml:2:11: chains.agent.model: must be a model of each of its vendors, a has no "a b"`,
		"r.yaml:4:1: replicas: must be 1, 3 or 5, is 2"}},
}

func TestFaultsNamePlaceFieldAndReason(t *testing.T) {
	t.Parallel()
	for _, c := range faulty {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rules, err := Parse("r.yaml", []byte(c.doc))
			if err == nil || rules != nil {
				t.Fatalf("accepted: %+v", rules)
			}
			if want := strings.Join(c.want, "\n"); err.Error() != want {
				t.Errorf("got\n%s\nwant\n%s", err, want)
			}
		})
	}
}

func TestFaultsAreAllToldAtOnceAndBounded(t *testing.T) {
	t.Parallel()
	var doc strings.Builder
	doc.WriteString("lanes:\n")
	for i := range 500 {
		doc.WriteString(fmt.Sprintf("  lane%d: {}\n", i))
	}
	_, err := Parse("r.yaml", []byte(doc.String()))
	if got := len(Faults(err)); got != maxFaults {
		t.Errorf("%d faults", got)
	}
}

// TestHostileTextsAreRefusedSoon: a stack overflow or a long loop would end a process.
func TestHostileTextsAreRefusedSoon(t *testing.T) {
	t.Parallel()
	for _, part := range []string{
		"[", "{", "{a: ", "- ", "? ", ": ", "&a ", "*a ", "!a ", "\"", "'", "\"\" ", "a: ", "a:\n", "a: \"x\"\n", "- [a, b]\n", "-\n", "#\n", "|\n", "a: |\n x\n",
		"[a, ", "\"a\": {", "\t", " ", "\n ", "%a\n", "---\n", "...\n", "<<: ", "a: 'b' ", ",", "]", "}",
	} {
		doc := strings.Repeat(part, MaxSize/8/len(part))
		if _, err := Parse("r.yaml", []byte(doc)); err != nil && len(Faults(err)) == 0 {
			t.Errorf("%q: %v", part, err)
		}
	}
	var deep strings.Builder
	for i := range 1000 {
		deep.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	_, err := Parse("r.yaml", []byte(deep.String()))
	if got := Faults(err); len(got) != 1 || got[0].Reason != "is nested too deep" {
		t.Errorf("deep: %v", err)
	}
	for _, part := range []string{"-\n", "- a\n", "k: 1\n"} {
		_, err = Parse("r.yaml", []byte(strings.Repeat(part, MaxSize/len(part))))
		if got := Faults(err); len(got) != 1 || !strings.Contains(got[0].Reason, "at most 10000 keys") {
			t.Errorf("many %q: %v", part, err)
		}
	}
	_, err = Parse("r.yaml", make([]byte, MaxSize+1))
	if got := Faults(err); len(got) != 1 || !strings.Contains(got[0].Reason, "at most 1048576 bytes") {
		t.Errorf("large: %v", err)
	}
}
