package knowledge

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/chat"
)

// Bounds of what is taken in.
const (
	MaxDocuments = 20_000
	MaxDocument  = 1 << 20 // bytes
	MaxPassages  = 200_000
	MaxName      = 200 // bytes
)

// ErrBounds is returned for documents that hold more, or less, than the bounds allow.
var ErrBounds = errors.New("out of bounds")

// Document is one text of the knowledge.
type Document struct {
	Name     string // unique; its ending tells the kind: .md, .txt or .csv
	URL      string // where customers may read it; empty: nowhere
	Language string // of the script of its text
	Text     string // as it was written
}

// CheckName says what is wrong with a document's name, or nil.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return fmt.Errorf("name has %d bytes, must be 1 to %d of valid UTF-8: %w", len(name), MaxName, ErrBounds)
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("name %q: must not hold control characters: %w", name, ErrBounds)
	}
	if ending := path.Ext(name); !Known(name) {
		return fmt.Errorf("%s: ends in %q, must end in .md, .txt or .csv: %w", name, ending, ErrBounds)
	}
	return nil
}

// Known reports whether a file of that name is of a kind that Read takes.
func Known(name string) bool {
	return slices.Contains([]string{".md", ".txt", ".csv"}, path.Ext(name))
}

// Read takes in a document. Each fault names the file, and the line where there is one.
func Read(name string, r io.Reader) (Document, error) {
	if err := CheckName(name); err != nil {
		return Document{}, err
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > MaxDocument {
		return Document{}, fmt.Errorf("%s: holds more than %d bytes: %w", name, MaxDocument, ErrBounds)
	}
	if !utf8.Valid(text) {
		return Document{}, fmt.Errorf("%s:%d: must be valid UTF-8: %w", name, badLine(text), ErrBounds)
	}
	if before, _, ok := bytes.Cut(text, []byte{0}); ok {
		return Document{}, fmt.Errorf("%s:%d: must not hold NUL: %w", name, 1+bytes.Count(before, []byte{'\n'}), ErrBounds)
	}
	d := Document{Name: name, Text: strings.TrimPrefix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\ufeff")}
	if strings.TrimSpace(d.Text) == "" {
		return Document{}, fmt.Errorf("%s: is empty: %w", name, ErrBounds)
	}
	if path.Ext(name) == ".csv" {
		if _, err := d.rows(); err != nil {
			return Document{}, err
		}
	}
	if err := d.readHead(); err != nil {
		return Document{}, err
	}
	d.Language = chat.Language(d.Text, "")
	return d, nil
}

// badLine is the line of the first byte that is no text.
func badLine(text []byte) int {
	line := 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		text = text[size:]
	}
	return line
}

// rows are those of CSV, the head first.
func (d Document) rows() ([][]string, error) {
	rows, err := csv.NewReader(strings.NewReader(d.Text)).ReadAll()
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		return nil, fmt.Errorf("%s:%d: %w", d.Name, bad.Line, bad.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", d.Name, err)
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%s:1: must have a head and at least one row: %w", d.Name, ErrBounds)
	}
	return rows, nil
}
