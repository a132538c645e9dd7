package pulse

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTheHourIsWhatWasPutInto holds the ring against a plain map of steps, through gaps,
// late steps and hours without anything.
func TestTheHourIsWhatWasPutInto(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, plain := NewHour(), map[int64]map[string]float64{}
		newest := stepOf(noon)
		for range rapid.IntRange(1, 30).Draw(t, "puts") {
			step := newest + int64(rapid.IntRange(-2, 200).Draw(t, "ahead"))
			values := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.Float64Range(0, 1e6)).Draw(t, "values")
			h.put(step, values)
			if len(plain) == 0 || step > newest {
				plain[step], newest = maps.Clone(values), step
			}
		}
		all := h.History()
		if !all.Until.Equal(endOf(newest)) {
			t.Fatalf("until %s, want %s", all.Until, endOf(newest))
		}
		for name, readings := range all.Series {
			for i, v := range readings {
				want, known := plain[newest-int64(Steps-1-i)][name]
				if known != (v != nil) || known && *v != want {
					t.Fatalf("%s, %d steps ago: %v, want %v %v", name, Steps-1-i, v, want, known)
				}
			}
		}
		sum := 0.0
		for step, values := range plain {
			if step > newest-int64(Steps) {
				sum += values["a"]
			}
		}
		if got := h.Sum("a"); got < sum-1e-3 || got > sum+1e-3 {
			t.Fatalf("the sum of a is %v, want %v", got, sum)
		}
	})
}

func TestTheHourTakesOverWhatItLacks(t *testing.T) {
	t.Parallel()
	first := stepOf(noon)
	one, two := NewHour(), NewHour()
	for i := range int64(5) {
		one.put(first+i, map[string]float64{"a": float64(i), "old": 1})
	}
	// It began in the third step, of which it has seen a part.
	two.put(first+3, map[string]float64{"a": 100})
	two.put(first+4, map[string]float64{"a": 200})
	body, err := json.Marshal(one.History())
	if err != nil {
		t.Fatal(err)
	}
	var told History
	if err := json.Unmarshal(body, &told); err != nil {
		t.Fatal(err)
	}
	if err := two.Merge(told, first+4, endOf(first+4)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0, 1, 2, 3, 200} {
		if got := two.values(first + int64(i)); got["a"] != want || got["old"] != 1 {
			t.Errorf("step %d: %v, want a %v", i, got, want)
		}
	}
	fresh := NewHour() // of one that has not seen a step end: what runs yet is left out
	if err := fresh.Merge(told, first+4, endOf(first+3)); err != nil {
		t.Fatal(err)
	}
	if fresh.newest != first+3 {
		t.Errorf("the newest step is %d, want %d", fresh.newest-first, 3)
	}
	for _, bad := range []History{
		{StepS: 5, Until: noon}, {StepS: 10, Until: noon.Add(time.Second)},
		{StepS: 10, Until: noon, Series: map[string][]Reading{"a": make([]Reading, 5000)}},
		{StepS: 10, Until: time.Unix(-1e6, 0), Series: map[string][]Reading{"a": told.Series["a"]}},
	} {
		_ = NewHour().Merge(bad, 0, noon) // it must not fall over
	}
}

func TestSeriesAreBoundedAndMakeRoom(t *testing.T) {
	t.Parallel()
	h, step := NewHour(), stepOf(noon)
	values := map[string]float64{}
	for i := range maxSeries + 20 {
		values[fmt.Sprint("s", i)] = 1
	}
	h.put(step, values)
	if len(h.series) != maxSeries {
		t.Fatalf("%d series, want %d", len(h.series), maxSeries)
	}
	h.put(step+int64(Steps), map[string]float64{"new": 1})
	if len(h.series) != 1 || h.values(step + int64(Steps))["new"] != 1 {
		t.Errorf("what has known nothing for an hour left no room: %d series", len(h.series))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"node":"n","n":3,"age":5,"counts":{"x":7},"spreads":{"w":[1,0,2]}}`))
	f.Add([]byte(`{"node":"n","spreads":{"w":[1e9]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := decode(body)
		if err != nil {
			return
		}
		sum := NewSum(noon)
		sum.Take(b, noon)
		sum.Take(Beat{Node: b.Node, N: b.N + 1, Total: newTotal()}, noon)
		sum.Live(noon)
	})
}
