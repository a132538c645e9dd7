package knowledge

import (
	"slices"
	"testing"

	"sluice/internal/chat"
	"sluice/internal/vector"
)

func threeLamps(t *testing.T) *Index {
	t.Helper()
	x, err := Build(t.Context(), []Document{
		{Name: "a.txt", Language: chat.English, Text: "The lamp costs ten."},
		{Name: "b.txt", Language: chat.English, Text: "The blender is rather noisy."},
		{Name: "c.txt", Language: chat.Chinese, Text: "台灯每天可以用。"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func documentsOf(hits []Hit) []string {
	var names []string
	for _, h := range hits {
		names = append(names, h.Document)
	}
	return names
}

func TestAMeaningFindsWhatNoWordDoes(t *testing.T) {
	t.Parallel()
	x := threeLamps(t)
	const ask = "how loud?"
	if hits := x.Search(ask, chat.English, 3); len(hits) != 0 {
		t.Fatalf("words find %v", documentsOf(hits))
	}
	near := []vector.Near{{Number: 1, Likeness: 0.8}, {Number: 0, Likeness: 0.1}, {Number: 99, Likeness: 0.1}, {Number: -1}}
	hits := x.SearchNear(ask, chat.English, near, 0.3, 3)
	if got := documentsOf(hits); !slices.Equal(got, []string{"b.txt", "a.txt"}) {
		t.Errorf("%v", got)
	}
	if hits[0].Likeness != 0.8 || hits[0].Covered != 0 {
		t.Errorf("%+v", hits[0])
	}
}

func TestBothRankingsHaveASay(t *testing.T) {
	t.Parallel()
	x := threeLamps(t)
	near := []vector.Near{{Number: 1, Likeness: 0.5}, {Number: 0, Likeness: 0.4}}
	hits := x.SearchNear("what does the lamp cost", chat.English, near, 0.3, 1)
	if len(hits) != 1 || hits[0].Document != "a.txt" || hits[0].Covered == 0 || hits[0].Likeness != 0.4 {
		t.Errorf("%+v", hits)
	}
	other := []vector.Near{{Number: 2, Likeness: 0.9}, {Number: 1, Likeness: 0.7}}
	if got := documentsOf(x.SearchNear("how loud?", chat.English, other, 0.3, 2)); !slices.Equal(got, []string{"b.txt", "c.txt"}) {
		t.Errorf("another language goes first: %v", got)
	}
}

func TestTheFloorLiesWhereStrangersRarelyReach(t *testing.T) {
	t.Parallel()
	var best []float64
	for i := range 100 {
		best = append(best, float64(99-i)/100)
	}
	if got := Floor(best); got != 0.95 {
		t.Errorf("%v", got)
	}
	if Floor(nil) != 1 || Floor([]float64{0.3}) != 0.3 {
		t.Error("a floor of few is wrong")
	}
}
