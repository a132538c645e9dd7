package rules

import (
	"errors"
	"fmt"
	"slices"
)

// Fault is one thing that is wrong with a document. Line and Column count from 1, the
// column in characters; they show the key, or the item of a list. Of a field that is
// not in the document they show what should hold it.
type Fault struct {
	File   string
	Line   int
	Column int
	Field  string // path such as vendors[0].quota; empty when the text is no YAML
	Reason string // what it must be, and what it is
}

// Error returns the fault in one line: "rules.yaml:12:5: lanes.high.bound: must be at
// least 1, is 0".
func (f *Fault) Error() string {
	if f.Field == "" {
		return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", f.File, f.Line, f.Column, f.Field, f.Reason)
}

// Faults returns the faults that an error of Parse holds, wrapped or not, in the order of
// the document.
func Faults(err error) []*Fault {
	switch e := err.(type) {
	case *Fault:
		return []*Fault{e}
	case interface{ Unwrap() error }:
		return Faults(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*Fault
		for _, one := range e.Unwrap() {
			all = append(all, Faults(one)...)
		}
		return all
	}
	return nil
}

// maxFaults bounds what one answer shows: a wrong file would give thousands.
const maxFaults = 50

// fault notes what is wrong with a field. A second complaint about one field would only
// be a consequence of the first.
func (d *document) fault(path, reason string, args ...any) {
	at := d.place(path)
	d.faultAt(at, path, reason, args...)
}

func (d *document) faultAt(at place, path, reason string, args ...any) {
	same := func(f *Fault) bool { return f.Field == path && f.Line == at.line && f.Column == at.column }
	if len(d.faults) >= maxFaults || slices.ContainsFunc(d.faults, same) {
		return
	}
	d.faults = append(d.faults, &Fault{
		File: d.name, Line: at.line, Column: at.column, Field: path, Reason: fmt.Sprintf(reason, args...),
	})
}

// err joins the faults, first line first.
func (d *document) err() error {
	slices.SortStableFunc(d.faults, func(a, b *Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	all := make([]error, len(d.faults))
	for i, f := range d.faults {
		all[i] = f
	}
	return errors.Join(all...)
}
