package mood

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"sluice/internal/chat"
)

// Of a long message the beginning and the end are read, in characters.
const (
	first = 300
	last  = 200
)

// enough is the weight at which a mood is there.
const enough = 2

//go:embed words.txt
var words string

// Reader reads moods. It never changes and is safe for concurrent use.
type Reader struct {
	words map[string][]word // by their first character, longer ones first
}

// word is one of the list.
type word struct {
	text   string
	latin  bool // it stands between borders of words
	mood   chat.Mood
	weight int
}

// New reads the shipped list.
func New() *Reader {
	r := &Reader{words: map[string][]word{}}
	for line := range strings.Lines(words) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		head, list, found := strings.Cut(strings.TrimSpace(line), ": ")
		name, weight, weighed := strings.Cut(head, " ")
		if !found || !weighed {
			continue
		}
		for text := range strings.SplitSeq(list, ", ") {
			r.add(word{text: text, latin: text[0] < utf8.RuneSelf, mood: chat.Mood(name), weight: int(weight[0] - '0')})
		}
	}
	return r
}

func (r *Reader) add(w word) {
	_, size := utf8.DecodeRuneInString(w.text)
	all := r.words[w.text[:size]]
	i := 0
	for i < len(all) && len(all[i].text) >= len(w.text) {
		i++
	}
	r.words[w.text[:size]] = append(all[:i:i], append([]word{w}, all[i:]...)...)
}

// Of returns the mood of a message; calm where nothing speaks for another one.
func (r *Reader) Of(text string) chat.Mood {
	text = folded(shortened(text))
	weights := map[chat.Mood]int{}
	for i := 0; i < len(text); {
		w, found := r.at(text, i)
		if !found {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		if !denied(text[:i], text[i+len(w.text):]) {
			weights[w.mood] += w.weight
		}
		i += len(w.text)
	}
	angry := weights[chat.MoodAngry]
	if angry > 0 && (strings.Contains(text, "!!") || strings.Contains(text, "??")) {
		angry++
	}
	switch {
	case weights[chat.MoodDesperate] >= enough:
		return chat.MoodDesperate
	case angry >= enough:
		return chat.MoodAngry
	case angry > 0 || weights[chat.MoodWorried] > 0:
		return chat.MoodWorried
	}
	return chat.MoodCalm
}

// at returns the longest word of the list that begins at i.
func (r *Reader) at(text string, i int) (word, bool) {
	_, size := utf8.DecodeRuneInString(text[i:])
	for _, w := range r.words[text[i:i+size]] {
		if strings.HasPrefix(text[i:], w.text) && (!w.latin || border(text, i) && border(text, i+len(w.text))) {
			return w, true
		}
	}
	return word{}, false
}

// border reports whether no word goes on at i.
func border(text string, i int) bool {
	return i == 0 || i == len(text) || !inWord(text[i-1]) || !inWord(text[i])
}

func inWord(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
