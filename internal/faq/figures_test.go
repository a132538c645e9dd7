package faq

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/internal/chat"
)

func TestOtherPeoplesQuestionsAreAnsweredWellEnough(t *testing.T) {
	t.Parallel()
	b := shopOf(t)
	scores := Evaluate(b, othersOf(t, b.Entries()))
	for _, language := range []string{All, chat.Chinese, chat.English} {
		t.Logf("%s: %+v", language, scores[language])
	}
	t.Logf("%+v", b.Calibration())
	if s := scores[All]; s.Recall1 < 0.6 || s.Recall3 < 0.78 || s.Answered < 0.15 || s.False > 0.06 {
		t.Errorf("worse than before: %+v", s)
	}
}

func TestFiguresOfHeldOutPhrasings(t *testing.T) {
	parts, learnt := 1, []int{8}
	if os.Getenv("SLUICE_FIGURES") != "" {
		parts, learnt = 5, []int{5, 8}
	}
	for _, per := range learnt {
		sum := map[string]*tally{All: {}, chat.Chinese: {}, chat.English: {}, "sharing": {}}
		for part := range parts {
			in, held := hold(entriesOf(t), part, per)
			b, err := Build(t.Context(), in, intentsOf(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", b.Calibration())
			for _, q := range held {
				m := b.Match(q.Text, q.Language)
				sum[All].add(q.Entry, m)
				sum[q.Language].add(q.Entry, m)
				if q.Entry == "" || shares(b, q) {
					sum["sharing"].add(q.Entry, m)
				}
			}
		}
		for language, tally := range sum {
			t.Logf("%d phrasings, %s: %+v; of the answers to the usual mix %.3f are wrong", per, language, tally.score(), wrongOfMix(tally))
		}
		if s := sum[All].score(); s.Recall1 < 0.65 || s.Recall3 < 0.85 || s.False > 0.08 {
			t.Errorf("%d phrasings: %+v", per, s)
		}
	}
}

func wrongOfMix(t *tally) float64 {
	outside := mixNear * ratio(t.outside, t.questions-t.scope)
	wrong := mixInScope*ratio(t.wrong-t.outside, t.scope) + outside
	return wrong / (mixInScope*ratio(t.answered, t.scope) + outside)
}

func shares(b *Base, q Labelled) bool {
	i := slices.IndexFunc(b.entries, func(e Entry) bool { return e.ID == q.Entry })
	own := saying(b, q.Text)
	for _, phrasing := range b.entries[i].Questions[q.Language] {
		common := 0
		for _, s := range saying(b, phrasing) {
			if slices.Contains(own, s) {
				common++
			}
		}
		if 2*common >= len(own) {
			return true
		}
	}
	return false
}

func saying(b *Base, text string) []string {
	var all []string
	for word := range strings.FieldsSeq(b.guard.blank.Replace(b.vocabulary.plain(text))) {
		if word[0] < 0x80 {
			if !b.guard.empty[word] {
				all = append(all, word)
			}
			continue
		}
		runes := []rune(word)
		for i := range len(runes) - 1 {
			all = append(all, string(runes[i:i+2]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func hold(entries []Entry, part, per int) (in []Entry, held []Labelled) {
	for k, e := range entries {
		out := k%5 == part
		kept := e
		kept.Questions = map[string][]string{}
		for _, language := range e.Languages() {
			for i, q := range e.Questions[language] {
				switch {
				case out:
					held = append(held, Labelled{Text: q, Language: language})
				case (i+k+2*part)%10 < per:
					kept.Questions[language] = append(kept.Questions[language], q)
				default:
					held = append(held, Labelled{Text: q, Entry: e.ID, Language: language})
				}
			}
		}
		if !out {
			in = append(in, kept)
		}
	}
	return in, held
}

func BenchmarkMatch(b *testing.B) {
	base := shopOf(b)
	questions := othersOf(b, base.Entries())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q := questions[i%len(questions)]
		base.Match(q.Text, q.Language)
	}
}

func BenchmarkBuild(b *testing.B) {
	entries, m := entriesOf(b), intentsOf(b)
	for b.Loop() {
		if _, err := Build(b.Context(), entries, m); err != nil {
			b.Fatal(err)
		}
	}
}
