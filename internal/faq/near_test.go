package faq

import (
	"os"
	"testing"

	"sluice/internal/chat"
	"sluice/internal/sim"
)

// simulated are the vectors of a vendor that knows no meaning: what is shown with them is
// that they have a say, not what they are worth.
func simulated(entries []Entry) *Vectors {
	v := &Vectors{Space: "sim 256", Of: map[string][]float32{}}
	for _, text := range Texts(entries) {
		v.Of[text] = sim.Embed(text, 256)
	}
	return v
}

func vectorOf(text string) []float32 { return sim.Embed(text, 256) }

// With vectors the base is fitted for them by itself; without the vector of a question it
// does exactly what it did before.
func TestABaseWithVectorsIsMeasuredForBoth(t *testing.T) {
	t.Parallel()
	entries := entriesOf(t)
	figures := os.Getenv("SLUICE_FIGURES") != ""
	if !figures {
		entries = entries[:12] // the time grows with the square
	}
	plain, err := Build(t.Context(), entries, intentsOf(t))
	if err != nil {
		t.Fatal(err)
	}
	b, err := BuildNear(t.Context(), entries, intentsOf(t), simulated(entries))
	if err != nil {
		t.Fatal(err)
	}
	found, before := b.Calibration(), plain.Calibration()
	if b.Space() != "sim 256" || plain.Space() != "" || before.Near != nil {
		t.Errorf("spaces %q and %q, %+v", b.Space(), plain.Space(), before.Near)
	}
	if found.Near == nil || found.Near.Points != found.Points || found.Near.Wrong > MaxWrong {
		t.Fatalf("%+v", found.Near)
	}
	t.Logf("by words %.3f answered, %.3f wrong; with vectors %+v", found.Answered, found.Wrong, *found.Near)
	if found.Answered != before.Answered || found.Wrong != before.Wrong || found.AnswerFrom != before.AnswerFrom {
		t.Errorf("%+v, without vectors %+v", found, before)
	}
	others := othersOf(t, entriesOf(t))
	for _, q := range others {
		got, want := b.Match(q.Text, q.Language), plain.Match(q.Text, q.Language)
		if got.Tier != want.Tier || got.Entry != want.Entry || got.P != want.P {
			t.Errorf("%q without a vector: %+v, want %+v", q.Text, got, want)
		}
		if odd := b.MatchNear(q.Text, q.Language, []float32{1, 0}); odd.P != want.P {
			t.Errorf("%q with the vector of another space: %+v", q.Text, odd)
		}
	}
	fused := EvaluateNear(b, others, vectorOf)
	for _, language := range []string{All, chat.Chinese, chat.English} {
		t.Logf("%s: words %+v", language, Evaluate(b, others)[language])
		t.Logf("%s: fused %+v", language, fused[language])
	}
	if s := fused[All]; figures && (s.Recall1 < 0.6 || s.Recall3 < 0.75 || s.False > 0.06) {
		t.Errorf("%+v", s)
	}
}

func TestTheSmallTalkIsAmongTheTexts(t *testing.T) {
	t.Parallel()
	entries := entriesOf(t)
	all := Texts(entries)
	if n := len(SmallTalk()); n != 120 || len(all) != 36*2*11+n {
		t.Errorf("%d texts, %d of small talk", len(all), n)
	}
}
