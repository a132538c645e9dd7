package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice/internal/chat"
)

// Bounds of what describes a tool.
const (
	maxTools      = 64
	maxTexts      = 1000 // characters of a description, a question and the like
	maxSchema     = 5    // levels of a schema
	maxProperties = 32
)

// ArgumentOrder is the argument by which a tool with an effect names what it works on.
const ArgumentOrder = "order"

var (
	argument    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	placeholder = regexp.MustCompile(`\{([^{}]*)\}`)
)

func (d *document) checkTools(tools []Tool) {
	if len(tools) > maxTools {
		d.fault("tools", "must hold at most %d tools, has %d", maxTools, len(tools))
	}
	var seen []string
	for i, t := range tools {
		path := fmt.Sprintf("tools[%d]", i)
		if !wordName.MatchString(t.Name) {
			d.fault(path+".name", "must be 1 to 32 of a-z 0-9 _ -, is %s", quote(t.Name))
		} else if j := slices.Index(seen, t.Name); j >= 0 {
			d.fault(path+".name", "must be unique, tools[%d] is %s too", j, quote(t.Name))
		}
		seen = append(seen, t.Name)
		d.checkTexts(path+".description", t.Description)
		d.checkURL(path+".url", t.URL)
		d.oneOf(path+".method", t.Method, "GET", "POST")
		if t.KeyEnv != "" && !variable.MatchString(t.KeyEnv) { // may be a key put in by mistake
			d.fault(path+".key_env", "must be the name of an environment variable, not a key")
		}
		d.span(path+".timeout", t.Timeout, 50*time.Millisecond, time.Minute)
		d.count(path+".per_answer", t.PerAnswer, 1, 20)
		d.count(path+".permits", t.Permits, 1, 0)
		d.checkBreaker(path+".breaker", t.Breaker)
		d.checkArguments(path+".arguments", t)
		d.checkEffect(path, t)
	}
}

func (d *document) checkArguments(path string, t Tool) {
	if t.Arguments.Type != "object" {
		d.fault(path+".type", "must be object, is %s", quote(t.Arguments.Type))
		return
	}
	d.checkSchema(path, t.Arguments, 1)
	if t.Method != "GET" {
		return
	}
	for name, s := range t.Arguments.Properties {
		if s.Type == "object" || s.Type == "array" {
			d.fault(path+".properties."+keyIn(name)+".type", "must be a plain value: method GET puts it into the query")
		}
	}
}

func (d *document) checkSchema(path string, s Schema, depth int) {
	if depth > maxSchema {
		d.fault(path, "must hold at most %d levels", maxSchema)
		return
	}
	d.oneOf(path+".type", s.Type, "object", "array", "string", "integer", "number", "boolean")
	if len(s.Properties) > maxProperties {
		d.fault(path+".properties", "must hold at most %d, has %d", maxProperties, len(s.Properties))
	}
	for name, p := range s.Properties {
		at := path + ".properties." + keyIn(name)
		if !argument.MatchString(name) {
			d.fault(at, "must be named with 1 to 64 of A-Z a-z 0-9 _")
		}
		d.checkSchema(at, p, depth+1)
	}
	for i, name := range s.Required {
		if _, there := s.Properties[name]; !there {
			d.fault(fmt.Sprintf("%s.required[%d]", path, i), "must be one of the properties, is %s", quote(name))
		}
	}
	switch {
	case s.Type == "array" && s.Items == nil:
		d.fault(path+".items", "must be given")
	case s.Items != nil:
		d.checkSchema(path+".items", *s.Items, depth+1)
	}
	if _, err := regexp.Compile(s.Pattern); err != nil {
		d.fault(path+".pattern", "must be an RE2 pattern")
	}
	d.only(path, s)
}

// only refuses what says nothing about values of the type: it is a mistake.
func (d *document) only(path string, s Schema) {
	for _, k := range []struct {
		key   string
		given bool
		types []string
	}{
		{"properties", len(s.Properties) > 0, []string{"object"}},
		{"required", len(s.Required) > 0, []string{"object"}},
		{"items", s.Items != nil, []string{"array"}},
		{"max_items", s.MaxItems != nil, []string{"array"}},
		{"enum", len(s.Enum) > 0, []string{"string"}},
		{"pattern", s.Pattern != "", []string{"string"}},
		{"min_length", s.MinLength != nil, []string{"string"}},
		{"max_length", s.MaxLength != nil, []string{"string"}},
		{"minimum", s.Minimum != nil, []string{"integer", "number"}},
		{"maximum", s.Maximum != nil, []string{"integer", "number"}},
	} {
		if k.given && !slices.Contains(k.types, s.Type) {
			d.fault(path+"."+k.key, "must be left out: it is of type %s", strings.Join(k.types, " or "))
		}
	}
}

// checkEffect wants of a tool with an effect what makes it one that happens once.
func (d *document) checkEffect(path string, t Tool) {
	if t.Confirm && !t.Effect {
		d.fault(path+".confirm", "must be false: only a tool with effect: true is confirmed")
	}
	if !t.Effect {
		return
	}
	if t.Handoff {
		d.fault(path+".handoff", "must be false: the tool has an effect")
	}
	if t.Method != "POST" {
		d.fault(path+".method", "must be POST: the tool has an effect")
	}
	if !t.Identity {
		d.fault(path+".identity", "must be true: the tool has an effect")
	}
	order := t.Arguments.Properties[ArgumentOrder]
	if order.Type != "string" || !slices.Contains(t.Arguments.Required, ArgumentOrder) {
		d.fault(path+".arguments", "must require %s, a string: an effect is claimed by it", ArgumentOrder)
	}
	d.checkTexts(path+".done", t.Done)
	if !t.Confirm {
		return
	}
	d.checkTexts(path+".question", t.Question)
	for lang, text := range t.Question {
		at := path + ".question." + keyIn(lang)
		named := placeholder.FindAllStringSubmatch(text, -1)
		for _, p := range named {
			if !slices.Contains(t.Arguments.Required, p[1]) {
				d.fault(at, "must name required arguments only, has %s", quote(p[0]))
			}
		}
		if !strings.Contains(text, "{"+ArgumentOrder+"}") {
			d.fault(at, "must name {%s}", ArgumentOrder)
		}
	}
}

// checkTexts wants a text in both languages.
func (d *document) checkTexts(path string, texts map[string]string) {
	for _, lang := range []string{chat.Chinese, chat.English} {
		if strings.TrimSpace(texts[lang]) == "" {
			d.fault(path+"."+lang, "must be given")
		}
	}
	for lang, text := range texts {
		if lang != chat.Chinese && lang != chat.English {
			d.fault(path+"."+keyIn(lang), "unknown language, must be %s or %s", chat.Chinese, chat.English)
		} else if n := len([]rune(text)); n > maxTexts {
			d.fault(path+"."+lang, "must hold at most %d characters, has %d", maxTexts, n)
		}
	}
}
