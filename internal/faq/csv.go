package faq

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ReadCSV reads entries with one phrasing a row, under a head with the columns id, lang,
// question and answer, and perhaps intent and priority; others are refused. Rows of the
// same id are one entry; the answer may stand in the first row of a language alone. Each
// fault names the file and the line.
func ReadCSV(name string, r io.Reader) ([]Entry, error) {
	t, err := openTable(name, r)
	if err != nil {
		return nil, err
	}
	for _, column := range []string{"id", "lang", "question", "answer"} {
		if !slices.Contains(t.head, column) {
			return nil, &Fault{File: name, Line: 1, Reason: fmt.Sprintf("must have the column %s, has %s", column, strings.Join(t.head, ", "))}
		}
	}
	for _, column := range t.head {
		if !slices.Contains([]string{"id", "lang", "question", "answer", "intent", "priority"}, column) {
			return nil, &Fault{File: name, Line: 1, Reason: fmt.Sprintf("unknown column %q", column)}
		}
	}
	d := &document{name: name}
	var entries []Entry
	place := map[string]int{}
	for t.next(d) {
		id := t.field("id")
		i, there := place[id]
		if !there {
			i = len(entries)
			place[id] = i
			entries = append(entries, Entry{ID: id, Questions: map[string][]string{}, Answers: map[string]string{}})
			d.lines = append(d.lines, t.line)
		}
		d.row(t, &entries[i])
	}
	if t.err != nil {
		return nil, t.err
	}
	return d.finish(entries)
}

// row adds a row to its entry.
func (d *document) row(t *table, e *Entry) {
	language := t.field("lang")
	e.Questions[language] = append(e.Questions[language], t.field("question"))
	answer, before := t.field("answer"), e.Answers[language]
	switch {
	case answer == "" || answer == before:
	case before != "":
		d.fault(t.line, "entry %q has another answer already", e.ID)
	default:
		e.Answers[language] = answer
	}
	if in := t.field("intent"); in != "" {
		e.Intent = in
	}
	if p := t.field("priority"); p != "" {
		n, err := strconv.Atoi(p)
		if err != nil {
			d.fault(t.line, "priority must be a whole number")
		}
		e.Priority = n
	}
}

// table reads CSV row by row.
type table struct {
	name string
	rows *csv.Reader
	head []string
	now  []string
	line int
	err  error
}

func openTable(name string, r io.Reader) (*table, error) {
	t := &table{name: name, rows: csv.NewReader(io.LimitReader(r, MaxFile))}
	t.rows.FieldsPerRecord = -1
	head, err := t.rows.Read()
	if err != nil {
		return nil, t.unreadable(err)
	}
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	for i := range head {
		head[i] = strings.TrimSpace(head[i])
	}
	t.head = head
	return t, nil
}

// next goes to the next row that has as many fields as the head.
func (t *table) next(d *document) bool {
	for len(d.faults) < maxFaults {
		row, err := t.rows.Read()
		if err == io.EOF {
			return false
		}
		if err != nil {
			t.err = t.unreadable(err)
			return false
		}
		t.now = row
		t.line, _ = t.rows.FieldPos(0)
		if len(row) == len(t.head) {
			return true
		}
		d.fault(t.line, "must have %d fields like the head, has %d", len(t.head), len(row))
	}
	return false
}

// field is what stands in a column, or nothing where there is no such column.
func (t *table) field(column string) string {
	if i := slices.Index(t.head, column); i >= 0 {
		return t.now[i]
	}
	return ""
}

func (t *table) unreadable(err error) error {
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		return &Fault{File: t.name, Line: bad.Line, Reason: bad.Err.Error()}
	}
	if err == io.EOF {
		return &Fault{File: t.name, Line: 1, Reason: "is empty"}
	}
	return fmt.Errorf("read %s: %w", t.name, err)
}
