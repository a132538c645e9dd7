package entity

import (
	"unicode/utf8"

	"sluice/internal/chat"
)

// Kinds that no ticket carries: they are only found to be masked.
const (
	Card  chat.EntityKind = "card"  // of a bank
	Paper chat.EntityKind = "paper" // that proves who somebody is: an identity card, a passport
)

// What Find reads and returns at most.
const (
	first = 300 // characters from the beginning
	last  = 200 // characters from the end
	most  = 16  // entities; further ones are left out
)

// Find returns what a message names, in the order of the text, without cards and papers.
// It reads the beginning and the end of a long text, and returns 16 entities at most.
func Find(text string) []chat.Entity {
	var all []chat.Entity
	for _, part := range ends(text) {
		for _, e := range Scan(text[part[0]:part[1]]) {
			if e.Kind == Card || e.Kind == Paper || len(all) >= most {
				continue
			}
			e.Start += part[0]
			e.End += part[0]
			all = append(all, e)
		}
	}
	return all
}

// ends returns the one or two parts of the text that are read.
func ends(text string) [][2]int {
	if len(text) <= first+last {
		return [][2]int{{0, len(text)}}
	}
	head := 0
	for range first {
		_, size := utf8.DecodeRuneInString(text[head:])
		head += size
	}
	tail := len(text)
	for n := 0; n < last && tail > head; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:tail])
		tail -= size
	}
	if tail <= head {
		return [][2]int{{0, len(text)}}
	}
	return [][2]int{{0, head}, {tail, len(text)}}
}

// Scan returns all entities of the whole text, of every kind, in its order. Spans never
// overlap and begin and end between characters. The time grows with the length of the
// text, never faster.
func Scan(text string) []chat.Entity {
	s := &scan{}
	var pieces []piece
	s.text, pieces = plain(text)
	s.run()
	if pieces != nil {
		for i := range s.found {
			s.found[i].Start, s.found[i].End = origin(pieces, s.found[i].Start), origin(pieces, s.found[i].End)
		}
	}
	return s.found
}
