package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// FieldError names the field of a behaviour that is wrong, with dots for nested ones:
// "first_token.kind". Field is empty when the document as a whole is wrong.
type FieldError struct {
	Field  string
	Detail string
}

// Error returns field and detail.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Detail
	}
	return e.Field + ": " + e.Detail
}

func bad(field, format string, args ...any) error {
	return &FieldError{Field: field, Detail: fmt.Sprintf(format, args...)}
}

// under puts the field of err below parent.
func under(parent string, err error) error {
	var fe *FieldError
	if !errors.As(err, &fe) || parent == "" {
		return err
	}
	if fe.Field == "" {
		return &FieldError{Field: parent, Detail: fe.Detail}
	}
	return &FieldError{Field: parent + "." + fe.Field, Detail: fe.Detail}
}

// decodeFields reads a JSON object into the pointers of dest by name. It is stricter than
// json.Decoder.DisallowUnknownFields, whose errors do not say where in the document.
func decodeFields(raw []byte, dest map[string]any) error {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return bad("", "must be a JSON object")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return bad("", "must be a JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		pointer, known := dest[name]
		if !known {
			return bad(name, "unknown field")
		}
		if err := decodeField(fields[name], pointer); err != nil {
			return under(name, err)
		}
	}
	return nil
}

func decodeField(raw json.RawMessage, pointer any) error {
	if bytes.Equal(raw, []byte("null")) {
		return bad("", "must not be null")
	}
	if d, ok := pointer.(*time.Duration); ok {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return bad("", "must be a duration string such as \"800ms\"")
		}
		parsed, err := time.ParseDuration(text)
		if err != nil {
			return bad("", "%q: must be a duration string such as \"800ms\"", text)
		}
		*d = parsed
		return nil
	}
	err := json.Unmarshal(raw, pointer)
	var fe *FieldError
	if err != nil && !errors.As(err, &fe) {
		return bad("", "must be %s", jsonKind(pointer))
	}
	return err
}

func jsonKind(pointer any) string {
	switch pointer.(type) {
	case *string:
		return "a string"
	case *bool:
		return "true or false"
	case *int:
		return "a whole number"
	case *float64:
		return "a number"
	default:
		return "a JSON object"
	}
}
