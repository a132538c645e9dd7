package rules

import "reflect"

// Blame returns a fault of a document that is valid by itself but not where it shall be
// put into force, at the place of the field that is to blame.
func Blame(name string, doc []byte, field, reason string) *Fault {
	d := &document{name: name, at: map[string]place{}}
	if root := d.parse(doc); root != nil {
		d.decode(root, reflect.ValueOf(builtin()).Elem(), "")
	}
	at := d.place(field)
	return &Fault{File: name, Line: at.line, Column: at.column, Field: field, Reason: reason}
}
