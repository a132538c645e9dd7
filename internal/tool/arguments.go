package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// maxArguments is the most bytes of a call's arguments.
const maxArguments = 16 << 10

// arguments is a schema that a model's arguments are held against. It is safe for
// concurrent use.
type arguments struct {
	text   json.RawMessage // as the model is shown it
	schema *huma.Schema
}

// node is the part of JSON Schema that is known here.
type node struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Properties  map[string]node `json:"properties"`
	Required    []string        `json:"required"`
	Items       *node           `json:"items"`
	MaxItems    *int            `json:"maxItems"`
	Enum        []any           `json:"enum"`
	Pattern     string          `json:"pattern"`
	MinLength   *int            `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
}

func newArguments(schema json.RawMessage) (*arguments, error) {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.DisallowUnknownFields()
	var root node
	if err := dec.Decode(&root); err != nil {
		return nil, fmt.Errorf("read Schema: %w", err)
	}
	if root.Type != huma.TypeObject {
		return nil, fmt.Errorf("its Schema must be of type object, is %q", root.Type)
	}
	a := &arguments{schema: root.huma()}
	text, err := a.schema.MarshalJSON()
	a.text = text
	return a, err
}

func (n node) huma() *huma.Schema {
	s := &huma.Schema{
		Type: n.Type, Description: n.Description, Required: n.Required, MaxItems: n.MaxItems, Enum: n.Enum,
		Pattern: n.Pattern, MinLength: n.MinLength, MaxLength: n.MaxLength, Minimum: n.Minimum, Maximum: n.Maximum,
	}
	if n.Type == huma.TypeObject {
		s.AdditionalProperties = false
		s.Properties = map[string]*huma.Schema{}
		for name, p := range n.Properties {
			s.Properties[name] = p.huma()
		}
	}
	if n.Items != nil {
		s.Items = n.Items.huma()
	}
	s.PrecomputeMessages()
	return s
}

// read returns arguments that fit the schema. The error is for the model: it says what to
// do better.
func (a *arguments) read(text string) (map[string]any, error) {
	if len(text) > maxArguments {
		return nil, fmt.Errorf("the arguments are longer than %d bytes", maxArguments)
	}
	var value any
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&value); err != nil {
		return nil, errors.New("the arguments are not valid JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the arguments are more than one JSON value")
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("the arguments are no JSON object")
	}
	if err := strange(a.schema, value, ""); err != nil {
		return nil, err
	}
	var found huma.ValidateResult
	huma.Validate(huma.NewMapRegistry("", huma.DefaultSchemaNamer), a.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, &found)
	if len(found.Errors) > 0 {
		var detail *huma.ErrorDetail
		if errors.As(found.Errors[0], &detail) { // without the value, which may be long
			return nil, fmt.Errorf("%s: %s", detail.Location, detail.Message)
		}
		return nil, found.Errors[0]
	}
	return object, nil
}

// strange refuses properties that the schema does not have under exactly that name: huma
// takes them in any case of letters.
func strange(s *huma.Schema, value any, path string) error {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			p, there := s.Properties[name]
			if !there {
				return fmt.Errorf("%s%.64q: there is no such argument", path, name)
			}
			if err := strange(p, v, path+name+"."); err != nil {
				return err
			}
		}
	case []any:
		for _, v := range value {
			if s.Items == nil {
				return nil // an array where none belongs: told by the other check
			}
			if err := strange(s.Items, v, path); err != nil {
				return err
			}
		}
	}
	return nil
}
