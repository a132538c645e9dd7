// Package mask keeps what tells of a person from leaving the house: phones, mail
// addresses, bank cards and identity papers become placeholders before a vendor reads a
// text, and are put back where their owner reads it. It is plain code without I/O.
package mask

import (
	"strconv"
	"strings"
	"sync"

	"sluice/internal/chat"
	"sluice/internal/entity"
)

// most bounds the placeholders of one answer. What more there is becomes overflow, and
// nobody gets it back.
const (
	most     = 500
	overflow = "[HIDDEN]"
)

// foreign stands in a customer's reply for what is not theirs.
const foreign = "●●●"

// literal is the kind of what only looks like a placeholder: it is hidden as well, so that
// each one in a prompt is ours.
const literal chat.EntityKind = "literal"

// names of the kinds, as a model reads them: [PHONE_1].
var names = map[chat.EntityKind]string{
	chat.EntityPhone: "PHONE", chat.EntityMail: "MAIL", entity.Card: "CARD", entity.Paper: "ID", literal: "TEXT",
}

// Book knows what the placeholders of one answer stand for. The same thing has the same
// one throughout. A book is safe for concurrent use.
type Book struct {
	mu      sync.Mutex // guards the rest
	hidden  map[string]*secret
	byThing map[string]string // kind and value → placeholder
	count   map[chat.EntityKind]int
}

// secret is what a placeholder stands for.
type secret struct {
	text  string // as it was written first
	value string // without blanks and signs
	own   bool   // the customer has written or read it
}

// New returns an empty book.
func New() *Book {
	return &Book{hidden: map[string]*secret{}, byThing: map[string]string{}, count: map[chat.EntityKind]int{}}
}

// Hide returns the text with placeholders. own: the customer whom the answer is for has
// written or read it, so what it holds may be shown to them.
func (b *Book) Hide(text string, own bool) string {
	spans := personal(text)
	if len(spans) == 0 {
		return text
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var out strings.Builder
	out.Grow(len(text))
	from := 0
	for _, e := range spans {
		out.WriteString(text[from:e.Start])
		out.WriteString(b.placeholder(e, text[e.Start:e.End], own))
		from = e.End
	}
	out.WriteString(text[from:])
	return out.String()
}

// placeholder returns the one of an entity, and makes it where there is none.
func (b *Book) placeholder(e chat.Entity, text string, own bool) string {
	thing := string(e.Kind) + " " + e.Value
	name, known := b.byThing[thing]
	if !known {
		if len(b.hidden) >= most {
			return overflow
		}
		b.count[e.Kind]++
		name = "[" + names[e.Kind] + "_" + strconv.Itoa(b.count[e.Kind]) + "]"
		b.byThing[thing] = name
		b.hidden[name] = &secret{text: text, value: e.Value}
	}
	if s := b.hidden[name]; own && !s.own {
		s.own, s.text = true, text
	}
	return name
}

// Show returns what the model wrote as the customer may read it: with what is their own,
// and foreign in the place of the rest. A placeholder that the book does not know stays.
func (b *Book) Show(text string) string {
	return b.replace(text, func(s *secret) string {
		if s.own {
			return s.text
		}
		return foreign
	})
}

// Reveal returns the arguments of a tool with what they stand for, in plain digits and
// letters that need no escape in JSON.
func (b *Book) Reveal(arguments string) string {
	return b.replace(arguments, func(s *secret) string { return s.value })
}

func (b *Book) replace(text string, by func(*secret) string) string {
	if !strings.Contains(text, "[") {
		return text
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '[' {
			continue
		}
		end := placeholderAt(text, i)
		if end == 0 {
			continue
		}
		if s, known := b.hidden[text[i:end]]; known {
			out.WriteString(text[from:i])
			out.WriteString(by(s))
			from = end
		}
		i = end - 1
	}
	return out.String() + text[from:]
}
