package sim

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const maxDepth = 5

var (
	smallNumber = regexp.MustCompile(`\d{1,6}(?:\.\d{1,2})?`)
	refundable  = regexp.MustCompile(`"refundable":\s*(\d{1,6}(?:\.\d{1,2})?)`)
)

// schema is the part of JSON Schema that arguments are made from.
type schema struct {
	Type       schemaType        `json:"type"`
	Enum       []any             `json:"enum"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
}

// schemaType came as a name or as a list of names, of which the first that is not "null"
// counts.
type schemaType string

// UnmarshalJSON reads both forms.
func (t *schemaType) UnmarshalJSON(raw []byte) error {
	var names []string
	if len(raw) > 0 && raw[0] == '[' {
		if err := json.Unmarshal(raw, &names); err != nil {
			return err
		}
		for _, name := range names {
			if name != "null" {
				*t = schemaType(name)
				return nil
			}
		}
		return nil
	}
	return json.Unmarshal(raw, (*string)(t))
}

// filler makes values for a schema from what is known.
type filler struct {
	question question
	order    string
	text     string // for free text
	topic    string
	forced   bool // make something up where nothing is known
}

// fill returns a value for the property name, and false when none is known. A property
// that is not required is filled only when the customer named it.
func (f filler) fill(name string, s schema, required bool, depth int) (any, bool) {
	if depth > maxDepth {
		return nil, f.forced
	}
	if len(s.Enum) > 0 {
		return f.pick(s.Enum), required
	}
	switch s.Type {
	case "object", "":
		if s.Type == "" && depth > 0 && s.Properties == nil {
			return f.textFor(name, required)
		}
		return f.object(s, depth)
	case "array":
		if s.Items == nil {
			return []any{}, required
		}
		item, ok := f.fill(name, *s.Items, required, depth+1)
		return []any{item}, ok
	case "integer", "number":
		return f.number(name, s.Type), required
	case "boolean":
		return false, required
	default:
		return f.textFor(name, required)
	}
}

func (f filler) object(s schema, depth int) (any, bool) {
	out := map[string]any{}
	for name, property := range s.Properties {
		required := slices.Contains(s.Required, name)
		value, ok := f.fill(name, property, required, depth+1)
		switch {
		case ok:
			out[name] = value
		case required:
			return out, false
		}
	}
	return out, true
}

// pick chooses the value that the question or its topic names, else the first.
func (f filler) pick(values []any) any {
	for _, v := range values {
		if s, ok := v.(string); ok && s != "" && (s == f.topic || strings.Contains(f.question.text, s)) {
			return s
		}
	}
	return values[0]
}

// number is one that the customer names; an amount may also come from what was looked up.
func (f filler) number(name string, kind schemaType) any {
	found := smallNumber.FindString(orderNumber.ReplaceAllString(f.question.text, " "))
	if found == "" && strings.Contains(strings.ToLower(name), "amount") {
		for _, answer := range f.question.answers {
			if m := refundable.FindStringSubmatch(answer); m != nil {
				found = m[1]
			}
		}
	}
	value, err := strconv.ParseFloat(found, 64)
	if err != nil {
		value = 1
	}
	if kind == "integer" {
		return int(value)
	}
	return value
}

func (f filler) textFor(name string, required bool) (any, bool) {
	lower := strings.ToLower(name)
	is := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(lower, p) })
	}
	switch {
	case is("order", "tracking", "shipment") || lower == "id" || strings.HasSuffix(lower, "_no"):
		return f.order, f.order != "" || f.forced
	case strings.HasSuffix(lower, "id"):
		return "", f.forced // of a product, a customer: the question does not tell
	case is("phone", "mobile"):
		return f.question.phone, f.question.phone != "" || f.forced
	case is("lang", "locale"):
		return f.question.lang, required
	case is("topic", "intent", "category"):
		return f.topic, f.topic != "" || f.forced
	case is("query", "question", "keyword", "reason", "summary", "message", "description", "text"):
		return clip(f.text, 500), true
	default:
		return clip(f.text, 500), required
	}
}
