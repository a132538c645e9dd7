package faq

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// CheckTwins says which questions of the given entries, which are in force, are those of
// another entry too, as joined faults, or nil: such a question is answered by neither.
func CheckTwins(inForce, given []Entry) error {
	var faults []error
	for _, t := range twins(inForce, given) {
		faults = append(faults, &t.Fault)
	}
	return errors.Join(faults...)
}

// checkTwins notes the questions that stand in two entries of a file, at the later one.
func (d *document) checkTwins(entries []Entry) {
	for _, t := range twins(entries, entries) {
		t.File, t.Line = d.name, d.lines[t.place]
		d.faults = append(d.faults, &t.Fault)
	}
}

// twin is a question that another entry has too.
type twin struct {
	Fault
	place int // of its entry among the given ones
}

// twins finds the first maxFaults of them. Questions are the same in spite of case, width
// and signs. Of two given entries the later one is at fault.
func twins(inForce, given []Entry) []twin {
	reader := newVocabulary(nil).reader
	same := func(question string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsNumber(r) {
				return r
			}
			return -1
		}, reader.Fold(question))
	}
	owners := map[string][]string{} // the first two entries that have a question
	eachQuestion(inForce, func(_ int, e Entry, _, question string) {
		text := same(question)
		if all := owners[text]; text != "" && len(all) < 2 && !slices.Contains(all, e.ID) {
			owners[text] = append(all, e.ID)
		}
	})
	isGiven := map[string]bool{}
	for _, e := range given {
		isGiven[e.ID] = true
	}
	var found []twin
	eachQuestion(given, func(place int, e Entry, field, question string) {
		all := owners[same(question)]
		if len(all) < 2 || all[0] == e.ID && isGiven[all[1]] || len(found) == maxFaults {
			return
		}
		other := all[0]
		if other == e.ID {
			other = all[1]
		}
		found = append(found, twin{Fault{Entry: e.ID, Field: field, Reason: fmt.Sprintf("is a question of entry %q too", other)}, place})
	})
	return found
}

func eachQuestion(entries []Entry, see func(place int, e Entry, field, question string)) {
	for place, e := range entries {
		for _, language := range e.Languages() {
			for i, q := range e.Questions[language] {
				see(place, e, fmt.Sprintf("questions.%s[%d]", language, i), q)
			}
		}
	}
}
