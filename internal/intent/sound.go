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

// spell cuts a word into syllables, the longest first, and appends them. A word that is
// no pinyin gives nothing.
func (s *sounds) spell(word string, to []uint16) []uint16 {
	if word == "" {
		return to
	}
	for n := min(longestSyllable, len(word)); n > 0; n-- {
		if one, ok := s.syllable[word[:n]]; ok {
			if all := s.spell(word[n:], append(to, one)); all != nil {
				return all
			}
		}
	}
	return nil
}
