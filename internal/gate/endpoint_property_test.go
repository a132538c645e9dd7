package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"pgregory.net/rapid"

	"sluice/internal/llm"
)

// TestCountsOfEndpointsFollowAnyHistory compares the counts with those of a plain map.
func TestCountsOfEndpointsFollowAnyHistory(t *testing.T) {
	t.Parallel()
	fault := &llm.Error{Kind: llm.Unavailable}
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"v", "w", "x", "y", "z"}
		now := time.Unix(1_700_000_000, 0)
		draw := func() []Endpoint {
			var set []Endpoint
			for _, name := range names {
				if weight := rapid.IntRange(0, 4).Draw(t, "weight of "+name); weight > 0 || name == "v" && len(set) == 0 {
					set = append(set, Endpoint{Name: name, Model: vendor(good), Weight: weight})
				}
			}
			return set
		}
		live := draw()
		s, err := NewSpread(live, vendorsFault)
		if err != nil {
			t.Fatal(err)
		}
		var calls []*door
		want := map[string]int{}
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				d, _ := s.begin("", now)
				if !slices.ContainsFunc(live, func(e Endpoint) bool { return e.Name == d.Name }) {
					t.Fatalf("a call went to %s, which has left", d.Name)
				}
				calls = append(calls, d)
				want[d.Name]++
			},
			"end": func(t *rapid.T) {
				if len(calls) == 0 {
					t.Skip("no call")
				}
				i := rapid.IntRange(0, len(calls)-1).Draw(t, "call")
				err := rapid.SampledFrom([]error{nil, fault, context.Canceled}).Draw(t, "how")
				want[calls[i].Name]--
				s.end(calls[i], err, time.Second, now)
				calls = slices.Delete(calls, i, i+1)
			},
			"change": func(t *rapid.T) {
				live = draw()
				if err := s.SetEndpoints(live); err != nil {
					t.Fatal(err)
				}
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 60_000).Draw(t, "ms")) * time.Millisecond)
			},
			"": func(t *rapid.T) {
				got := map[string]int{}
				for _, l := range s.Loads() {
					if l.Leaving && l.InFlight == 0 {
						t.Fatalf("%s has left and is still there", l.Endpoint)
					}
					if l.InFlight > 0 {
						got[l.Endpoint] = l.InFlight
					}
				}
				maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
				if !maps.Equal(got, want) {
					t.Fatalf("in flight %v, want %v", got, want)
				}
			},
		})
	})
}

func TestEndpointsChangeUnderCallsOfManyGoroutines(t *testing.T) {
	t.Parallel()
	all := []Endpoint{}
	for i := range 4 {
		all = append(all, Endpoint{Name: fmt.Sprint("e", i), Weight: i, Model: vendor(func(context.Context) (*llms.ContentResponse, error) {
			if rand.IntN(4) == 0 {
				return nil, &llm.Error{Kind: llm.Unavailable}
			}
			return good(t.Context())
		})})
	}
	s := newSpread(t, all...)
	var work sync.WaitGroup
	for range 32 {
		work.Go(func() {
			for range 500 {
				var fault *llm.Error
				if _, err := s.GenerateContent(t.Context(), nil); err != nil && !errors.As(err, &fault) {
					t.Error(err)
				}
			}
		})
	}
	for i := range 500 {
		if err := s.SetEndpoints(all[i%3 : i%3+2]); err != nil {
			t.Error(err)
		}
		s.Loads()
	}
	work.Wait()
	for _, l := range s.Loads() {
		if l.InFlight != 0 || l.Leaving {
			t.Errorf("at rest: %+v", l)
		}
	}
}

func BenchmarkSpread(b *testing.B) {
	s, err := NewSpread([]Endpoint{{Name: "x", Model: vendor(good)}, {Name: "y", Model: vendor(good)}, {Name: "z", Model: vendor(good)}}, vendorsFault)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _ = s.GenerateContent(b.Context(), nil)
		}
	})
}
