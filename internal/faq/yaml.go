package faq

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"sluice/internal/chat"
)

// MaxFile bounds what is read, in bytes.
const MaxFile = 32 << 20

// ReadYAML reads the entries under the key faqs. Questions and answers stand by
// language; a list of questions or a single answer without one has the language of its
// script. Each fault names the file and the line.
func ReadYAML(name string, text []byte) ([]Entry, error) {
	d := &document{name: name}
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s: holds %d bytes, at most %d are read: %w", name, len(text), MaxFile, ErrBounds)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		if bad, ok := errors.AsType[yaml.Error](err); ok {
			return nil, &Fault{File: name, Line: line(bad.GetToken()), Reason: bad.GetMessage()}
		}
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	var entries []Entry
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		for _, top := range d.pairs(doc.Body, "faqs") {
			for _, item := range d.items(top.Value) {
				entries = append(entries, d.entry(item))
			}
		}
	}
	return d.finish(entries)
}

// document gathers what is wrong with a file.
type document struct {
	name   string
	lines  []int // where each entry begins
	faults []error
}

// maxFaults bounds how many lines are named.
const maxFaults = 20

func (d *document) fault(line int, format string, args ...any) {
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, &Fault{File: d.name, Line: line, Reason: fmt.Sprintf(format, args...)})
	}
}

// finish checks the entries, each beside the line where it begins.
func (d *document) finish(entries []Entry) ([]Entry, error) {
	seen := map[string]int{}
	for i, e := range entries {
		if err := e.Check(); err != nil && len(d.faults) == 0 {
			for _, fault := range Faults(err) {
				fault.File, fault.Line = d.name, d.lines[i]
				d.faults = append(d.faults, fault)
			}
		}
		if first, twice := seen[e.ID]; twice {
			d.fault(d.lines[i], "entry %q is there already, on line %d", e.ID, first)
		}
		seen[e.ID] = d.lines[i]
	}
	if len(d.faults) > 0 {
		return nil, errors.Join(d.faults...)
	}
	if err := Check(entries); err != nil {
		return nil, fmt.Errorf("%s: %w", d.name, err)
	}
	d.checkTwins(entries)
	if len(d.faults) > 0 {
		return nil, errors.Join(d.faults...)
	}
	return entries, nil
}

func line(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 1
	}
	return t.Position.Line
}

// pairs are the entries of a mapping, whose keys must be among the known ones.
func (d *document) pairs(node ast.Node, known ...string) []*ast.MappingValueNode {
	var all []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		all = n.Values
	case *ast.MappingValueNode:
		all = []*ast.MappingValueNode{n}
	default:
		d.fault(line(node.GetToken()), "must be a mapping of keys")
		return nil
	}
	seen := map[string]bool{}
	kept := all[:0:0]
	for _, pair := range all {
		key := pair.Key.GetToken().Value
		switch {
		case !slices.Contains(known, key):
			d.fault(line(pair.Key.GetToken()), "unknown key %q, must be one of %q", key, known)
		case seen[key]:
			d.fault(line(pair.Key.GetToken()), "key %q is there twice", key)
		default:
			kept = append(kept, pair)
		}
		seen[key] = true
	}
	return kept
}

func (d *document) items(node ast.Node) []ast.Node {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		d.fault(line(node.GetToken()), "must be a list")
		return nil
	}
	return list.Values
}

func (d *document) text(node ast.Node) string {
	switch n := node.(type) {
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.StringNode:
		return n.Value
	case ast.ScalarNode:
		if n.Type() != ast.NullType {
			return n.GetToken().Value
		}
	}
	d.fault(line(node.GetToken()), "must be text")
	return ""
}

func (d *document) entry(node ast.Node) Entry {
	e := Entry{Questions: map[string][]string{}, Answers: map[string]string{}}
	d.lines = append(d.lines, line(first(node)))
	for _, pair := range d.pairs(node, "id", "intent", "priority", "answer", "questions") {
		switch pair.Key.GetToken().Value {
		case "id":
			e.ID = d.text(pair.Value)
		case "intent":
			e.Intent = d.text(pair.Value)
		case "priority":
			n, err := strconv.Atoi(d.text(pair.Value))
			if err != nil {
				d.fault(line(pair.Value.GetToken()), "priority must be a whole number")
			}
			e.Priority = n
		case "answer":
			d.answers(pair.Value, e.Answers)
		case "questions":
			d.questions(pair.Value, e.Questions)
		}
	}
	return e
}

// first is the token that a node begins with.
func first(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

func (d *document) answers(node ast.Node, to map[string]string) {
	switch node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		for _, pair := range d.pairs(node, chat.Chinese, chat.English) {
			to[pair.Key.GetToken().Value] = d.text(pair.Value)
		}
		return
	}
	answer := d.text(node)
	to[chat.Language(answer, "")] = answer
}

func (d *document) questions(node ast.Node, to map[string][]string) {
	if list, ok := node.(*ast.SequenceNode); ok {
		for _, item := range list.Values {
			q := d.text(item)
			language := chat.Language(q, "")
			to[language] = append(to[language], q)
		}
		return
	}
	for _, pair := range d.pairs(node, chat.Chinese, chat.English) {
		language := pair.Key.GetToken().Value
		for _, item := range d.items(pair.Value) {
			to[language] = append(to[language], d.text(item))
		}
	}
}
