package faq

import "fmt"

// Fault is one thing that is wrong with an entry or with a file of entries.
type Fault struct {
	File   string // empty: it came in no file
	Line   int    // in the file, from 1
	Entry  string // id of the entry, where it is one's fault
	Field  string // of the entry, such as questions.zh; may be empty
	Reason string
}

// Error implements error.
func (f *Fault) Error() string {
	reason := f.Reason
	if f.Entry != "" {
		reason = fmt.Sprintf("entry %q: %s", f.Entry, reason)
	}
	if f.File == "" {
		return reason
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, reason)
}

// Unwrap makes every fault an ErrBounds: none of them is the program's.
func (f *Fault) Unwrap() error { return ErrBounds }

// Faults returns the faults that an error is made of, in order.
func Faults(err error) []*Fault {
	switch e := err.(type) {
	case *Fault:
		return []*Fault{e}
	case interface{ Unwrap() []error }:
		var all []*Fault
		for _, one := range e.Unwrap() {
			all = append(all, Faults(one)...)
		}
		return all
	case interface{ Unwrap() error }:
		return Faults(e.Unwrap())
	}
	return nil
}
