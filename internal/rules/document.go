package rules

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSize is the most bytes of a document: 1 MiB.
const MaxSize = 1 << 20

// Nesting is bounded before the parser sees the text, because it recurses: of flow
// style by the open brackets, of block style by the indentation.
const (
	maxFlow   = 16
	maxIndent = 120
)

// The parser's time grows with the square of the number of keys and of list items.
const (
	maxTokens = 60_000
	maxKeys   = 10_000
)

// document is one text on its way to Rules. It remembers where each field stands.
type document struct {
	name    string
	at      map[string]place
	faults  []*Fault
	shipped bool // it is the one that the others are completed from
}

// place is a position in the text, from 1.
type place struct{ line, column int }

func placeOf(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{max(1, t.Position.Line), max(1, t.Position.Column)}
}

// place returns where a field stands, or else what should hold it.
func (d *document) place(path string) place {
	for {
		if at, ok := d.at[path]; ok {
			return at
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return place{1, 1}
		}
		path = path[:i]
	}
}

// parse returns the root of the text, nil for a text without any value. Faults are
// noted; after one there is no root.
func (d *document) parse(text []byte) ast.Node {
	if !d.readable(text) {
		return nil
	}
	// The YAML scanner counts \r\n inside quotes as two lines.
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	file, err := load(d, string(text))
	if err != nil {
		d.syntax(err)
		return nil
	}
	if file == nil {
		return nil
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			return doc.Body
		}
	}
	return nil
}

// readable refuses what is no text at all.
func (d *document) readable(text []byte) bool {
	if len(text) > MaxSize {
		d.faultAt(place{1, 1}, "", "the document must hold at most %d bytes, has %d", MaxSize, len(text))
		return false
	}
	line, column := 1, 1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			d.faultAt(place{line, column}, "", "must be valid UTF-8, has the byte 0x%02X", text[i])
			return false
		case unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t':
			d.faultAt(place{line, column}, "", "must not hold the control character U+%04X", r)
			return false
		case r == '\n', r == '\r' && !bytes.HasPrefix(text[i+1:], []byte("\n")):
			line, column = line+1, 0
		}
		i, column = i+size, column+1
	}
	return true
}

// errBroken stands for a panic of the YAML library: its fuzzers still find some, and a
// document from outside must not end a process.
var errBroken = errors.New("cannot be read as YAML")

// load scans and parses. A shape that is refused leaves faults and no file.
func load(d *document, text string) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			file, err = nil, errBroken
		}
	}()
	tokens := lexer.Tokenize(text)
	if !d.plain(tokens) {
		return nil, nil
	}
	return parser.Parse(tokens, 0)
}

// plain refuses the parts of YAML that a rules document has no use for: each value
// stands where it is used, once, so that a fault's line is the line to change and no
// small text unfolds into a large one.
func (d *document) plain(tokens token.Tokens) bool {
	flow, line, keys, started := 0, 0, 0, false
	for i, t := range tokens {
		reason := ""
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			reason = "anchors, aliases and merge keys are not accepted"
		case token.TagType, token.DirectiveType, token.MappingKeyType:
			reason = "tags, directives and \"?\" keys are not accepted"
		case token.DocumentHeaderType:
			if started {
				reason = "must be one document"
			}
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(0, flow-1)
		case token.MappingValueType:
			keys++
		case token.InvalidType:
			reason = oneLine(t.Error)
		}
		if t.Type == token.CommentType {
			continue
		}
		block := flow == 0 && (t.Position.Line != line || t.Type == token.SequenceEntryType)
		if reason == "" && (flow > maxFlow || block && t.Position.Column > maxIndent) {
			reason = "is nested too deep"
		}
		if reason == "" && (i >= maxTokens || keys > maxKeys) {
			reason = fmt.Sprintf("the document must hold at most %d keys and %d signs and values", maxKeys, maxTokens)
		}
		if reason != "" {
			d.faultAt(placeOf(t), "", "%s", reason)
			return false
		}
		line, started = t.Position.Line, true
	}
	return true
}

// syntax notes what the YAML library could not read.
func (d *document) syntax(err error) {
	var known yaml.Error
	if !errors.As(err, &known) {
		d.faultAt(place{1, 1}, "", "%s", errBroken)
		return
	}
	d.faultAt(placeOf(known.GetToken()), "", "%s", oneLine(known.GetMessage()))
}

// oneLine keeps a message of the YAML library, which may quote the text, to one line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		s = errBroken.Error()
	}
	if runes := []rune(s); len(runes) > 120 {
		s = string(runes[:120]) + "…"
	}
	return s
}
