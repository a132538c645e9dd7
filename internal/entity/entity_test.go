package entity

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// line is a labelled message: its entities, each as kind and the words that name it.
type line struct {
	language string
	text     string
	want     []string
}

// labelled reads the test set: language, message with [kind|words] around each entity.
func labelled(t *testing.T) []line {
	t.Helper()
	f, err := os.Open("testdata/messages.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []line
	for in := bufio.NewScanner(f); in.Scan(); {
		language, marked, found := strings.Cut(in.Text(), " ")
		if !found || language == "#" {
			continue
		}
		l := line{language: language}
		for {
			before, rest, more := strings.Cut(marked, "[")
			l.text += before
			if !more {
				break
			}
			inside, after, closed := strings.Cut(rest, "]")
			kind, words, named := strings.Cut(inside, "|")
			if !closed || !named {
				t.Fatalf("bad mark in %q", in.Text())
			}
			l.text += words
			l.want = append(l.want, kind+" "+words)
			marked = after
		}
		all = append(all, l)
	}
	return all
}

// TestWhatMessagesName holds floors under precision and recall on messages of our own.
func TestWhatMessagesName(t *testing.T) {
	t.Parallel()
	lines := labelled(t)
	if len(lines) < 200 {
		t.Fatalf("%d labelled lines", len(lines))
	}
	type score struct{ right, found, there int }
	scores := map[string]*score{}
	at := func(key string) *score {
		if scores[key] == nil {
			scores[key] = &score{}
		}
		return scores[key]
	}
	for _, l := range lines {
		left := map[string]int{}
		for _, w := range l.want {
			kind, _, _ := strings.Cut(w, " ")
			at(l.language).there++
			at(l.language+" "+kind).there++
			left[w]++
		}
		for _, e := range Scan(l.text) {
			got := string(e.Kind) + " " + l.text[e.Start:e.End]
			at(l.language).found++
			at(l.language+" "+string(e.Kind)).found++
			if left[got] == 0 {
				t.Logf("too much: %q in %q", got, l.text)
				continue
			}
			left[got]--
			at(l.language).right++
			at(l.language+" "+string(e.Kind)).right++
		}
		for w, n := range left {
			if n > 0 {
				t.Logf("missed: %q in %q", w, l.text)
			}
		}
	}
	for _, language := range []string{"zh", "en"} {
		for _, kind := range []string{"", " order", " tracking", " phone", " amount", " date", " mail", " card", " paper"} {
			s := at(language + kind)
			precision, recall := float64(s.right)/float64(max(1, s.found)), float64(s.right)/float64(max(1, s.there))
			t.Logf("%s%s: %d there, precision %.3f, recall %.3f", language, kind, s.there, precision, recall)
			if floor := 0.95; kind == "" && (precision < floor || recall < floor) {
				t.Errorf("%s: precision %.3f, recall %.3f, want %.2f", language, precision, recall, floor)
			}
		}
	}
}
