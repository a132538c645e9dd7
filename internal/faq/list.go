package faq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// List is what an operator has made of the FAQ, as it is stored: own entries beside the
// shipped ones, or in their place. It is a value; its methods change a copy.
type List struct {
	Shipped bool     `json:"shipped"`           // the shipped entries are in force too
	Without []string `json:"without,omitempty"` // ids of the shipped ones that are not
	Entries []Entry  `json:"entries"`           // own ones, by id; one replaces the shipped one of its id
}

// FirstList is the one before an operator has changed anything.
func FirstList() List { return List{Shipped: true} }

// ReadList reads a stored list.
func ReadList(doc []byte) (List, error) {
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.DisallowUnknownFields()
	var l List
	if err := decoder.Decode(&l); err != nil {
		return List{}, fmt.Errorf("read the list of the faq: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return List{}, errors.New("read the list of the faq: something follows it")
	}
	_, err := l.InForce()
	return l, err
}

// Document is the list as it is stored. The same list always gives the same bytes.
func (l List) Document() ([]byte, error) {
	if l.Entries == nil {
		l.Entries = []Entry{}
	}
	doc, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode the list of the faq: %w", err)
	}
	return doc, nil
}

// InForce returns the entries that answer, the shipped ones first, or says what is wrong
// with them. There may be none.
func (l List) InForce() ([]Entry, error) {
	var all []Entry
	if l.Shipped {
		shipped, err := Shipped()
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(shipped, func(e Entry) bool {
			_, own := l.place(e.ID)
			return own || slices.Contains(l.Without, e.ID)
		})
	}
	all = append(all, l.Entries...)
	if len(all) == 0 {
		return nil, nil
	}
	return all, Check(all)
}

// Put has an entry answer, in place of the one of its id.
func (l List) Put(e Entry) List {
	l.Entries = slices.Clone(l.Entries)
	l.Without = slices.DeleteFunc(slices.Clone(l.Without), func(id string) bool { return id == e.ID })
	at, own := l.place(e.ID)
	if own {
		l.Entries[at] = e
	} else {
		l.Entries = slices.Insert(l.Entries, at, e)
	}
	return l
}

// PutAll has many entries answer, each in place of the one of its id. Of two with the same
// id the later one stays.
func (l List) PutAll(entries []Entry) List {
	byID := map[string]Entry{}
	for _, e := range slices.Concat(l.Entries, entries) {
		byID[e.ID] = e
	}
	l.Without = slices.DeleteFunc(slices.Clone(l.Without), func(id string) bool { _, own := byID[id]; return own })
	l.Entries = slices.SortedFunc(maps.Values(byID), func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return l
}

// Drop has an entry answer no more; found is false where there is none of that id.
func (l List) Drop(id string) (_ List, found bool, err error) {
	at, own := l.place(id)
	if own {
		l.Entries = slices.Delete(slices.Clone(l.Entries), at, at+1)
	}
	shipped := false
	if l.Shipped {
		all, err := Shipped()
		if err != nil {
			return l, false, err
		}
		shipped = slices.ContainsFunc(all, func(e Entry) bool { return e.ID == id }) && !slices.Contains(l.Without, id)
	}
	if shipped {
		l.Without = append(slices.Clone(l.Without), id)
		slices.Sort(l.Without)
	}
	return l, own || shipped, nil
}

// Own reports whether the entry of an id is an operator's, and no shipped one.
func (l List) Own(id string) bool {
	_, own := l.place(id)
	return own
}

// place is where the own entry of an id is, or belongs.
func (l List) place(id string) (at int, own bool) {
	return slices.BinarySearchFunc(l.Entries, id, func(e Entry, id string) int { return strings.Compare(e.ID, id) })
}

// Clone returns an entry that shares nothing with e.
func (e Entry) Clone() Entry {
	questions := map[string][]string{}
	for language, all := range e.Questions {
		questions[language] = slices.Clone(all)
	}
	e.Questions, e.Answers = questions, maps.Clone(e.Answers)
	return e
}
