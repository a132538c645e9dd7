package cache

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestAKeyAnswersForNobodyElse draws scopes and questions whose parts run into one another,
// and asks for each what was stored under all of them.
func TestAKeyAnswersForNobodyElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, err := New(Config[string]{Name: "test", Bound: 10_000, Keep: hour})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		part := rapid.StringMatching(`[ab.\x00-]{1,3}`)
		type place struct {
			scope Scope
			asked [2]string
		}
		places := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) place {
			return place{
				Scope{Tenant: part.Draw(t, "tenant"), Model: part.Draw(t, "model"), Prompt: part.Draw(t, "prompt"), Knowledge: part.Draw(t, "knowledge")},
				[2]string{part.Draw(t, "asked"), part.Draw(t, "language")},
			}
		}), 2, 40, rapid.ID).Draw(t, "places")
		keys := map[string]bool{}
		for _, p := range places {
			key, err := p.scope.Key(p.asked[0], p.asked[1])
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Get(context.Background(), key, func(context.Context) (string, error) { return fmt.Sprint(p), nil })
			if err != nil || got != fmt.Sprint(p) || keys[key.String()] {
				t.Fatalf("%v is answered with %q, %v", p, got, err)
			}
			keys[key.String()] = true
		}
		if got := c.Counts(); got.Miss != uint64(len(places)) {
			t.Fatalf("%+v of %d places", got, len(places))
		}
	})
}

func TestAKeyNeedsEveryPartOfItsScope(t *testing.T) {
	t.Parallel()
	full := Scope{Tenant: "t", Model: "m", Prompt: "p", Knowledge: None}
	if _, err := full.Key("q"); err != nil {
		t.Error(err)
	}
	for name, forget := range map[string]func(*Scope){
		"Tenant": func(s *Scope) { s.Tenant = "" }, "Model": func(s *Scope) { s.Model = "" },
		"Prompt": func(s *Scope) { s.Prompt = "" }, "Knowledge": func(s *Scope) { s.Knowledge = "" },
	} {
		scope := full
		forget(&scope)
		if key, err := scope.Key("q"); err == nil || key != (Key{}) {
			t.Errorf("without a %s: key %q, %v", name, key, err)
		}
	}
}

func TestTheZeroKeyIsSharedByNobody(t *testing.T) {
	t.Parallel()
	c := newCache(t, nil)
	for _, want := range []string{"a", "b"} {
		got, err := c.Get(t.Context(), Key{}, func(context.Context) (string, error) { return want, nil })
		if got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	c.Put(Key{}, "c")
	if c.entries.EstimatedSize() != 0 {
		t.Error("it keeps something")
	}
}

// TestTheBoundHolds draws values of all sizes, and looks at what is kept after each.
func TestTheBoundHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.Uint64Range(1, 500).Draw(t, "bound")
		c, err := New(Config[string]{Name: "test", Bound: bound, Keep: hour, Cost: func(s string) int { return len(s) }})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for i, size := range rapid.SliceOfN(rapid.IntRange(0, 600), 1, 200).Draw(t, "sizes") {
			key, err := Scope{Tenant: "t", Model: "m", Prompt: "p", Knowledge: None}.Key(fmt.Sprint(i % 50))
			if err != nil {
				t.Fatal(err)
			}
			c.Put(key, string(make([]byte, size)))
			sum := 0
			for _, e := range c.entries.All() {
				sum += max(1, len(e.value))
			}
			if uint64(sum) > bound {
				t.Fatalf("entries of %d are kept, the bound is %d", sum, bound)
			}
		}
	})
}
