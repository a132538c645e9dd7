package intent

import (
	_ "embed"
	"strings"
	"unicode/utf8"
)

// simplePairs are traditional characters, and Cantonese ones, each with the simplified
// or standard one that means the same.
//
//go:embed words/simple.txt
var simplePairs string

// The common Han characters, and the room of a table by character.
const (
	firstHan = '\u4e00'
	lastHan  = '\u9fff'
	hanRoom  = lastHan - firstHan + 1
)

func isHan(r rune) bool { return firstHan <= r && r <= lastHan || '\u3400' <= r && r <= '\u4dbf' }

// han is the table of simplified characters: 0 where a character stays as it is.
type han [hanRoom]uint16

func newHan() *han {
	h := &han{}
	for pair := range strings.FieldsSeq(simplePairs) {
		from, size := utf8.DecodeRuneInString(pair)
		to, _ := utf8.DecodeRuneInString(pair[size:])
		if firstHan <= from && from <= lastHan {
			h[from-firstHan] = uint16(to)
		}
	}
	return h
}

func (h *han) simple(r rune) rune {
	if firstHan <= r && r <= lastHan && h[r-firstHan] != 0 {
		return rune(h[r-firstHan])
	}
	return r
}

// simplified returns the text in simplified characters, and whether that makes a
// difference.
func (h *han) simplified(text string) (string, bool) {
	for i, r := range text {
		if h.simple(r) != r {
			return text[:i] + strings.Map(h.simple, text[i:]), true
		}
	}
	return text, false
}
