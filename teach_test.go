package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/intent"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// pupilRules has an intent that patterns do not know.
const pupilRules = smallRules + "intents:\n  - {name: rental, urgent: true, examples: [EXAMPLES], template: {zh: 租车, en: Rental}}\n"

// fewLessons learns from the rules' own examples and a few of something else, which
// takes no time.
func fewLessons(ctx context.Context, _ *rules.Rules, examples, aside []intent.Example) (*intent.Model, error) {
	var few []intent.Example
	for _, e := range examples {
		if e.Intent == "rental" || e.Intent == "thanks_bye" && len(few) < 40 {
			few = append(few, e)
		}
	}
	return intent.Train(ctx, few, aside)
}

func TestIntentsAreLearntAnewWhenTheirExamplesChange(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		t.Cleanup(w.close)
		examples := "the van broke down, " + strings.Repeat("our hired van broke down, the van has a flat tyre, ", 10) + "van"
		first := strings.Replace(pupilRules, "EXAMPLES", examples, 1)
		w.storeRules(first)
		given := make(chan int, 10) // examples of each
		var fail atomic.Bool
		f := w.pupil(func(ctx context.Context, r *rules.Rules, examples, aside []intent.Example) (*intent.Model, error) {
			given <- len(examples)
			if fail.Load() {
				return nil, errors.New("not good enough")
			}
			return fewLessons(ctx, r, examples, aside)
		})
		time.Sleep(time.Second)
		const message = "a flat tyre on the van we hired"
		if name, urgent := f.classify(message); name != "rental" || !urgent {
			t.Errorf("%s, urgent %v, want what was learnt", name, urgent)
		}
		f.put(t, "lanes: {high: {bound: 7}}\n"+first)
		time.Sleep(time.Second)
		if n := len(given); n != 1 {
			t.Errorf("%d lessons, want none for rules with the same examples", n)
		}
		fail.Store(true)
		f.put(t, strings.Replace(pupilRules, "EXAMPLES", examples+", one more", 1))
		time.Sleep(time.Second)
		if before, after := <-given, <-given; after != before+1 {
			t.Errorf("lessons of %d and %d examples, want one more", before, after)
		}
		if name, _ := f.classify(message); name != "rental" {
			t.Errorf("%s, want that the last good model holds", name)
		}
		f.put(t, smallRules)
		time.Sleep(time.Second)
		if name, _ := f.classify(message); name == "rental" {
			t.Errorf("an intent that the rules no longer have")
		}
	})
}

func TestAModelThatDoesNotHoldIsNotPublished(t *testing.T) {
	t.Parallel()
	r := testRules(t, smallRules)
	examples, err := lessons(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range examples { // labels that nothing can be learnt from
		examples[i].Intent = r.Intents[i*7%len(r.Intents)].Name
	}
	if _, err := teachModel(t.Context(), r, examples[:2000], nil); !errors.Is(err, errUnfitModel) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := teachModel(ctx, r, examples, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
