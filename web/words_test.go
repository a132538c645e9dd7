package web_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/web"
)

var word = regexp.MustCompile(`(?m)^ +"?(\w+)"?: `)

// TestPagesOfOperatorsHaveTheSameWordsInBothLanguages compares the names of the words,
// which stand one a line.
func TestPagesOfOperatorsHaveTheSameWordsInBothLanguages(t *testing.T) {
	t.Parallel()
	names, err := web.AdminNames()
	if err != nil {
		t.Fatal(err)
	}
	pairs := 0
	for _, name := range names {
		var en, zh string
		switch {
		case strings.HasSuffix(name, "/text_en.js"):
			en, zh = source(t, name), source(t, strings.Replace(name, "_en", "_zh", 1))
		case strings.HasSuffix(name, "_text.js"):
			var both bool
			if en, zh, both = strings.Cut(source(t, name), "export const zh = {"); !both {
				t.Errorf("%s has no words in Chinese", name)
			}
		default:
			continue
		}
		pairs++
		if a, b := words(en), words(zh); !slices.Equal(a, b) {
			t.Errorf("%s: %d words in English, %d in Chinese; English alone or elsewhere: %q; Chinese: %q", name, len(a), len(b), beyond(a, b), beyond(b, a))
		}
	}
	if pairs < 2 {
		t.Errorf("%d tables of words were found", pairs)
	}
}

func TestPagesOfOperatorsNeverMakeMarkupOfText(t *testing.T) {
	t.Parallel()
	names, err := web.AdminNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text := source(t, name)
		for _, forbidden := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser", " style=\"", "javascript:"} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s holds %s", name, forbidden)
			}
		}
	}
}

func source(t *testing.T, name string) string {
	t.Helper()
	text, err := web.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func words(text string) (names []string) {
	for _, found := range word.FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	return names
}

func beyond(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
