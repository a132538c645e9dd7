package knowledge

import (
	"maps"
	"slices"
	"testing"

	"sluice/internal/sim"
	"sluice/internal/vector"
)

// The vectors are a simulator's, which knows no meaning: that they do little harm is all that
// they can show. docs/knowledge.md has the figures.
func TestPoorVectorsCostTheRankingLittle(t *testing.T) {
	t.Parallel()
	x := shopOf(t)
	var vectors [][]float32
	for _, text := range x.Texts() {
		vectors = append(vectors, sim.Embed(text, 512))
	}
	table, err := vector.NewTable(vectors)
	if err != nil {
		t.Fatal(err)
	}
	search := func(q Question, n int) []Hit {
		return x.SearchNear(q.Text, q.Language, table.Nearest(sim.Embed(q.Text, 512), Reach), 0.2, n)
	}
	words, fused := Evaluate(x, questionsOf(t)), EvaluateBy(questionsOf(t), search)
	for _, language := range slices.Sorted(maps.Keys(words)) {
		t.Logf("%s: words %+v, fused %+v", language, words[language], fused[language])
		if f := fused[language]; f.Recall3 < 0.85 || f.Recall1 < 0.6 {
			t.Errorf("%s: %+v", language, f)
		}
	}
}
