package rules

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// overwrite replaces the value of an entry.
func overwrite(doc []byte, pair *ast.MappingValueNode, value string) []byte {
	from := after(doc, pair.Start)
	to := from
	if end := last(pair.Value); written(doc, end) {
		to = max(from, after(doc, end))
	}
	return splice(doc, from, to, " "+value)
}

// add puts an entry that is missing into the mapping that should hold it: path[0] is its
// key, further ones go into mappings of their own. A pair is an entry of that key with
// nothing under it.
func add(doc []byte, parent ast.Node, pair *ast.MappingValueNode, path []string, value string) ([]byte, error) {
	for i := len(path) - 1; i > 0; i-- {
		value = "{" + path[i] + ": " + value + "}"
	}
	line := path[0] + ": " + value
	switch n := parent.(type) {
	case nil:
		return append(ended(doc), line+"\n"...), nil
	case *ast.MappingValueNode:
		if pair != nil {
			return overwrite(doc, pair, value), nil
		}
		return below(doc, n, line), nil
	case *ast.MappingNode:
		switch {
		case pair != nil:
			return overwrite(doc, pair, value), nil
		case n.IsFlowStyle && len(n.Values) == 0:
			return splice(doc, before(doc, n.End), before(doc, n.End), line), nil
		case n.IsFlowStyle:
			at := after(doc, last(n.Values[len(n.Values)-1]))
			return splice(doc, at, at, ", "+line), nil
		case len(n.Values) > 0:
			return below(doc, n.Values[0], line), nil
		}
	}
	return nil, ErrLayout
}

// below puts a line under an entry of a mapping in block style.
func below(doc []byte, pair *ast.MappingValueNode, line string) []byte {
	doc = ended(doc)
	at := after(doc, last(pair))
	at += bytes.IndexByte(doc[at:], '\n') + 1
	indent := strings.Repeat(" ", pair.Key.GetToken().Position.Column-1)
	return splice(doc, at, at, indent+line+"\n")
}

// ended returns a text that is empty or ends with a line end.
func ended(doc []byte) []byte {
	if len(doc) == 0 || bytes.HasSuffix(doc, []byte("\n")) {
		return doc
	}
	return append(doc[:len(doc):len(doc)], '\n')
}

func splice(doc []byte, from, to int, text string) []byte {
	out := make([]byte, 0, len(doc)+len(text))
	out = append(out, doc[:from]...)
	out = append(out, text...)
	return append(out, doc[to:]...)
}

// before and after return where a token begins and ends in the text.
func before(doc []byte, t *token.Token) int {
	at := 0
	for range t.Position.Line - 1 {
		at += bytes.IndexByte(doc[at:], '\n') + 1
	}
	for range t.Position.Column - 1 {
		_, size := utf8.DecodeRune(doc[at:])
		at += size
	}
	return min(at, len(doc))
}

func after(doc []byte, t *token.Token) int {
	return min(len(doc), before(doc, t)+len(strings.TrimSpace(t.Origin)))
}

// written reports whether a token stands in the text: the null of an entry with nothing
// under it does not.
func written(doc []byte, t *token.Token) bool {
	return bytes.HasPrefix(doc[before(doc, t):], []byte(strings.TrimSpace(t.Origin)))
}

// last returns the token that a node ends with.
func last(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if n.IsFlowStyle || len(n.Values) == 0 {
			return n.End
		}
		return last(n.Values[len(n.Values)-1])
	case *ast.MappingValueNode:
		return last(n.Value)
	case *ast.SequenceNode:
		if n.IsFlowStyle || len(n.Values) == 0 {
			return n.End
		}
		return last(n.Values[len(n.Values)-1])
	case *ast.LiteralNode:
		return n.Value.GetToken()
	}
	return node.GetToken()
}
