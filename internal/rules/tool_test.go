package rules

import (
	"strings"
	"testing"
)

// toolDoc is a document with one vendor, and with one tool whose fields are given.
func toolDoc(fields string) string {
	return `vendors: [{name: v, endpoints: [{url: "http://v/v1"}], models: {strong: l, light: s}, quota: 2}]
tools:
  - {name: t, description: {zh: 查, en: look}, url: "http://t/x", ` + fields + "}\n"
}

func TestAToolHasItsDefaults(t *testing.T) {
	t.Parallel()
	r, err := Parse("r.yaml", []byte(toolDoc("key_env: K")))
	if err != nil {
		t.Fatal(err)
	}
	want := blankTool()
	got := r.Tools[0]
	if got.Method != "POST" || !got.Identity || got.Timeout != want.Timeout || got.PerAnswer != 4 || got.Permits != 16 ||
		got.Breaker != want.Breaker || got.Effect || got.Confirm || got.Arguments.Type != "object" {
		t.Errorf("%+v", got)
	}
}

func TestADocumentWithVendorsOfItsOwnHasNoToolsUnlessItNamesThem(t *testing.T) {
	t.Parallel()
	own := strings.SplitAfter(toolDoc(""), "\n")[0]
	for doc, want := range map[string]int{own: 0, own + "tools: []\n": 0, "lanes: {}\n": 5, "tools: []\n": 0} {
		r, err := Parse("r.yaml", []byte(doc))
		if err != nil || len(r.Tools) != want {
			t.Errorf("%q: %d tools, %v; want %d", doc, len(r.Tools), err, want)
		}
	}
}

func TestFaultsOfTools(t *testing.T) {
	t.Parallel()
	const order = `arguments: {type: object, properties: {order: {type: string}}, required: [order]}`
	const done = `done: {zh: 好, en: done}`
	for fields, want := range map[string]string{
		`method: PUT`:                                    "tools[0].method: must be one of GET, POST",
		`key_env: "sk-12 34"`:                            "tools[0].key_env: must be the name of an environment variable, not a key",
		`timeout: 2m`:                                    "tools[0].timeout: must be at most 1m0s",
		`per_answer: 0`:                                  "tools[0].per_answer: must be at least 1",
		`permits: 0`:                                     "tools[0].permits: must be at least 1",
		`breaker: {failures: 2}`:                         "tools[0].breaker.failures: ",
		`arguments: {type: string}`:                      "tools[0].arguments.type: must be object",
		`arguments: {type: object, oneOf: []}`:           "tools[0].arguments.oneOf: is not a known key",
		`arguments: {properties: {a: {}}}`:               "tools[0].arguments.properties.a.type: must be one of object, array",
		`arguments: {properties: {a-b: {type: string}}}`: "tools[0].arguments.properties.a-b: must be named with",
		`arguments: {properties: {a: {type: string}}, required: [b]}`: "tools[0].arguments.required[0]: must be one of the properties",
		`arguments: {properties: {a: {type: string, pattern: "("}}}`:  "tools[0].arguments.properties.a.pattern: must be an RE2 pattern",
		`arguments: {properties: {a: {type: array}}}`:                 "tools[0].arguments.properties.a.items: must be given",
		`arguments: {properties: {a: {type: number, enum: [x]}}}`:     "tools[0].arguments.properties.a.enum: must be left out",
		`method: GET, arguments: {properties: {a: {type: object}}}`:   "tools[0].arguments.properties.a.type: must be a plain value",
		`confirm: true`:          "tools[0].confirm: must be false",
		`effect: true, ` + done:  "tools[0].arguments: must require order",
		`effect: true, ` + order: "tools[0].done.zh: must be given",
		`effect: true, identity: false, ` + order + `, ` + done:                                            "tools[0].identity: must be true",
		`effect: true, method: GET, ` + order + `, ` + done:                                                "tools[0].method: must be POST",
		`effect: true, confirm: true, ` + order + `, ` + done:                                              "tools[0].question.zh: must be given",
		`effect: true, confirm: true, question: {zh: 好, en: "{order}"}, ` + order + `, ` + done:            "tools[0].question.zh: must name {order}",
		`effect: true, confirm: true, question: {zh: "{order}{x}", en: "{order}"}, ` + order + `, ` + done: "tools[0].question.zh: must name required arguments only",
	} {
		_, err := Parse("r.yaml", []byte(toolDoc(fields)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", fields, err, want)
		}
	}
}
