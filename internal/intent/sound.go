package intent

import (
	_ "embed"
	"strings"
)

// soundLines are the syllables of pinyin, each with the common characters that are read
// so. A character with two readings stands with the usual one.
//
//go:embed words/sounds.txt
var soundLines string

// sounds turns characters and pinyin into syllables, so that "转人工", "转认工" and
// "zhuan ren gong" sound alike. Tones are not told apart.
type sounds struct {
	of       [hanRoom]uint16 // syllable of a character; 0: not known
	syllable map[string]uint16
}

const longestSyllable = 6

func newSounds() *sounds {
	s := &sounds{syllable: map[string]uint16{}}
	for line := range strings.Lines(soundLines) {
		name, characters, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.syllable[name] = uint16(len(s.syllable) + 1)
		for _, r := range characters {
			if s.of[r-firstHan] == 0 {
				s.of[r-firstHan] = s.syllable[name]
			}
		}
	}
	return s
}

// spell cuts a word into syllables, the longest that leads to an end first, and appends
// them. A word that is no pinyin gives nothing.
func (s *sounds) spell(word string, to []uint16) []uint16 {
	if word == "" || len(word) > maxLetters {
		return nil
	}
	var dead uint32 // bit i: the rest from i on is no pinyin
	all, ok := s.spellFrom(word, 0, to, &dead)
	if !ok {
		return nil
	}
	return all
}

func (s *sounds) spellFrom(word string, at int, to []uint16, dead *uint32) ([]uint16, bool) {
	if at == len(word) {
		return to, true
	}
	if *dead>>at&1 == 1 {
		return nil, false
	}
	for n := min(longestSyllable, len(word)-at); n > 0; n-- {
		if one, ok := s.syllable[word[at:at+n]]; ok {
			if all, ok := s.spellFrom(word, at+n, append(to, one), dead); ok {
				return all, true
			}
		}
	}
	*dead |= 1 << at
	return nil, false
}
