package intent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lines makes examples of one intent.
func lines(intent string, texts ...string) []Example {
	var all []Example
	for _, text := range texts {
		all = append(all, Example{Text: text, Intent: intent})
	}
	return all
}

// fewLines are two intents of an operator's own, 20 examples each.
func fewLines() []Example {
	var all []Example
	for _, day := range []string{"monday", "tuesday", "friday", "sunday", "easter"} {
		all = append(all, lines("hours",
			"are you open on "+day, "when does the shop close on "+day, "opening times for "+day+" please", "what time do you open "+day)...)
		all = append(all, lines("rental",
			"the van broke down on "+day, "our hired van has a flat tyre since "+day, "the rental car would not start "+day, "pick the van up "+day)...)
	}
	return all
}

func TestTrainingIsRepeatable(t *testing.T) {
	t.Parallel()
	var models []*Model
	for range 2 {
		m, err := Train(t.Context(), fewLines(), lines("faq-1", "where can I park"))
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	one, two := models[0], models[1]
	if !slices.Equal(one.classes, two.classes) || !reflect.DeepEqual(one.known, two.known) ||
		!slices.Equal(one.weights, two.weights) || !slices.Equal(one.bias, two.bias) {
		t.Error("the same examples gave two models")
	}
}

func TestTrainingHasBounds(t *testing.T) {
	t.Parallel()
	many := make([]Example, MaxExamples+1)
	for i := range many {
		many[i] = Example{Text: "x", Intent: fmt.Sprint(i % 2)}
	}
	var classes []Example
	for i := range MaxClasses + 1 {
		classes = append(classes, lines(fmt.Sprint(i), "x")...)
	}
	for name, examples := range map[string][]Example{
		"too many examples": many,
		"too many classes":  classes,
		"one class":         lines("a", "x", "y"),
		"nothing":           nil,
		"a long example":    slices.Concat(fewLines(), lines("hours", strings.Repeat("長", MaxLength+1))),
		"a blank example":   slices.Concat(fewLines(), lines("hours", " ")),
	} {
		if _, err := Train(t.Context(), examples, nil); !errors.Is(err, ErrBounds) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Train(ctx, fewLines(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestClassesAreJoinedByName(t *testing.T) {
	t.Parallel()
	m, err := Train(t.Context(), fewLines(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const broken = "the van broke down again"
	for name, c := range map[string]struct {
		classes []Class
		want    Result
	}{
		"urgent by the classifier":  {[]Class{{Name: "hours"}, {Name: "rental", Urgent: true}}, Result{Intent: "rental", Urgent: true}},
		"not urgent":                {[]Class{{Name: "rental"}, {Name: "hours"}}, Result{Intent: "rental"}},
		"gone":                      {[]Class{{Name: "hours"}}, Result{Intent: "hours"}},
		"all gone":                  {nil, Result{Intent: Other, Unknown: true}},
		"a pattern of a new class":  {[]Class{{Name: "hours"}, {Name: "rental"}, {Name: "new", Patterns: []string{"broke"}}}, Result{Intent: "new"}},
		"a pattern of a known one":  {[]Class{{Name: "hours", Patterns: []string{"van"}}, {Name: "rental"}}, Result{Intent: "rental"}},
		"urgent patterns are first": {[]Class{{Name: "new", Patterns: []string{"broke"}}, {Name: "fire", Urgent: true, Patterns: []string{"down"}}}, Result{Intent: "fire", Urgent: true}},
	} {
		patterns, err := New(c.classes)
		if err != nil {
			t.Fatal(err)
		}
		got := patterns.With(m).Classify(broken)
		if got.Intent != c.want.Intent || got.Urgent != c.want.Urgent || got.Unknown != c.want.Unknown {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestExtraClassesTakeFromUrgentOnesAndAreNoAnswer(t *testing.T) {
	t.Parallel()
	c, err := New([]Class{{Name: "rental", Urgent: true}, {Name: "hours"}})
	if err != nil {
		t.Fatal(err)
	}
	const question = "can I bring the van back on another day"
	without, err := Train(t.Context(), slices.Concat(fewLines(), lines("rental", "bring the van back")), nil)
	if err != nil {
		t.Fatal(err)
	}
	with, err := Train(t.Context(), slices.Concat(fewLines(), lines("rental", "bring the van back")),
		lines("faq-return", "can I bring the van back a day later", "may I return the van on another day", "bring it back on another day", "can I bring the car back later"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.With(without).Classify(question); !got.Urgent {
		t.Errorf("without the FAQ: %+v", got)
	}
	if got := c.With(with).Classify(question); got.Urgent || got.Intent != "rental" && got.Intent != "hours" && got.Intent != Other {
		t.Errorf("with the FAQ: %+v", got)
	}
}

func TestTryShowsWhatANewIntentConfuses(t *testing.T) {
	t.Parallel()
	c, err := New([]Class{{Name: "hours"}, {Name: "rental"}, {Name: "late"}})
	if err != nil {
		t.Fatal(err)
	}
	// One that is like the opening hours, and half of it like nothing else.
	examples := slices.Concat(fewLines(), lines("late",
		"are you open late on monday", "are you open late on sunday", "when does the shop close on late fridays",
		"night bell", "ring the night bell", "where is the night bell"))
	got, err := c.Try(t.Context(), examples, "late")
	if err != nil {
		t.Fatal(err)
	}
	if got.Intent != "late" || got.Examples != 6 || got.Right == 0 || got.Right == 6 || got.Others == 0 || got.Drawn > got.Others {
		t.Errorf("%+v", got)
	}
	lost := 0
	for _, m := range got.Lost {
		lost += m.Count
		if m.Text == "" || m.Intent == "late" {
			t.Errorf("%+v", m)
		}
	}
	if got.Right+lost != got.Examples || got.Lost[0].Intent != "hours" {
		t.Errorf("%+v", got)
	}
	if again, err := c.Try(t.Context(), examples, "late"); err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("another trial: %+v, %v", again, err)
	}
}

func TestRareFeaturesGiveWay(t *testing.T) {
	t.Parallel()
	for room, want := range map[int][]feature{9: {1, 2, 3, 4}, 4: {1, 2, 3, 4}, 3: {2, 4}, 1: {4}, 0: nil} {
		if got := frequent([]feature{4, 2, 3, 4, 2, 1, 4}, room); !slices.Equal(got, want) {
			t.Errorf("room for %d: %v, want %v", room, got, want)
		}
	}
}

func TestHoldOutIsATenthAndAlwaysTheSame(t *testing.T) {
	t.Parallel()
	examples, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	learn, judge := HoldOut(examples)
	if n := len(examples); len(learn)+len(judge) != n || len(judge) < n/12 || len(judge) > n/8 {
		t.Errorf("%d of %d are held back", len(judge), n)
	}
	_, again := HoldOut(judge)
	if !slices.Equal(again, judge) {
		t.Error("another choice from the same texts")
	}
}

// TestShippedExamplesAreInOrder heeds what Train and the rules ask of them.
func TestShippedExamplesAreInOrder(t *testing.T) {
	t.Parallel()
	examples, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	type group struct{ intent, language string }
	count, of := map[group]int{}, map[string]Example{}
	for _, e := range examples {
		count[group{e.Intent, e.Language}]++
		if other, again := of[fold(e.Text)]; again {
			t.Errorf("%s/%s: %q is in %s/%s too", e.Language, e.Intent, e.Text, other.Language, other.Intent)
		}
		of[fold(e.Text)] = e
		if n := len([]rune(e.Text)); n > MaxLength {
			t.Errorf("%s/%s: %q has %d characters", e.Language, e.Intent, e.Text, n)
		}
	}
	c := shipped(t)
	for _, class := range c.classes {
		least := 200
		if class.Urgent || class.Name == Other {
			least = 300
		}
		for _, language := range []string{"zh", "en"} {
			g := group{class.Name, language}
			if count[g] < least {
				t.Errorf("%s/%s has %d examples, want %d", language, class.Name, count[g], least)
			}
			delete(count, g)
		}
	}
	if len(count) > 0 {
		t.Errorf("examples of no shipped intent: %v", count)
	}
}

func TestSpellCutsPinyin(t *testing.T) {
	t.Parallel()
	s := newSounds()
	syllables := func(word string) []string {
		var all []string
		for _, one := range s.spell(word, nil) {
			for name, number := range s.syllable {
				if number == one {
					all = append(all, name)
				}
			}
		}
		return all
	}
	for word, want := range map[string][]string{
		"zhuanrengong": {"zhuan", "ren", "gong"}, "tuikuan": {"tui", "kuan"}, "fangan": {"fang", "an"},
		"refund": nil, "": nil, strings.Repeat("nan", 9) + "x": nil, "退": nil,
	} {
		if got := syllables(word); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", word, got, want)
		}
	}
}

func TestReadingIsBounded(t *testing.T) {
	t.Parallel()
	r := newReader()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		text = strings.Repeat(text, rapid.IntRange(1, 200).Draw(t, "times"))
		// At most four features a letter, three a character, and what comes once.
		if n := len(r.features(fold(text))); n > 10*(headRunes+tailRunes) {
			t.Fatalf("%d features", n)
		}
	})
}
