package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"sluice/internal/chat"
)

// maxDepth is how deep a body or frame may be nested; ours need three levels.
const maxDepth = 32

// checkNames refuses what encoding/json would let through although it says something
// else: a field given twice (the last one would win), and one spelled otherwise than t
// spells it (case does not count there). What is no JSON is left to the parser.
func checkNames(b []byte, t reflect.Type) error {
	return (&names{json.NewDecoder(bytes.NewReader(b))}).value(t, "", 0)
}

type names struct{ in *json.Decoder }

// value reads one value that is meant for a t; a nil t takes any field.
func (n *names) value(t reflect.Type, path string, depth int) error {
	if depth > maxDepth {
		return chat.Bad("body", "must not be nested deeper than %d levels", maxDepth)
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token, err := n.in.Token()
	if err != nil {
		return nil // no JSON: the parser says what is wrong
	}
	switch token {
	case json.Delim('{'):
		return n.object(t, path, depth)
	case json.Delim('['):
		for n.in.More() {
			if err := n.value(element(t), path, depth+1); err != nil {
				return err
			}
		}
		_, _ = n.in.Token() // the end, or no JSON
	}
	return nil
}

func (n *names) object(t reflect.Type, path string, depth int) error {
	seen := map[string]bool{}
	for n.in.More() {
		token, err := n.in.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil
		}
		at := path + name
		field, known := fieldOf(t, name)
		switch {
		case seen[name]:
			return chat.Bad(at, "is given twice")
		case !known:
			return chat.Bad(at, "unknown field")
		}
		seen[name] = true
		if err := n.value(field, at+".", depth+1); err != nil {
			return err
		}
	}
	_, _ = n.in.Token()
	return nil
}

// fieldOf returns the type of the field that t names so in JSON; one that is no struct
// takes every name.
func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	if t == nil || t.Kind() != reflect.Struct {
		return element(t), true
	}
	for field := range t.Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == name {
			return field.Type, true
		}
		if field.Anonymous && tag == "" {
			if inner, found := fieldOf(field.Type, name); found {
				return inner, true
			}
		}
	}
	return nil, false
}

func element(t reflect.Type) reflect.Type {
	if t != nil && (t.Kind() == reflect.Map || t.Kind() == reflect.Slice) {
		return t.Elem()
	}
	return nil
}
