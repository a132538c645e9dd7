package sim

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLognormalKeepsMeanAndP95(t *testing.T) {
	t.Parallel()
	for _, l := range []Latency{
		Lognormal(time.Second, 1800*time.Millisecond),
		Lognormal(time.Second, 3*time.Second),
		Lognormal(time.Second, 1050*time.Millisecond),
		{Kind: KindLognormal, Mean: 8 * time.Second},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		const n = 200_000
		draws := make([]time.Duration, n)
		var sum time.Duration
		for i := range draws {
			draws[i] = l.draw(rng)
			sum += draws[i]
		}
		slices.Sort(draws)
		p95 := l.P95
		if p95 == 0 {
			p95 = l.Mean * 9 / 5
		}
		near := func(got, want time.Duration) bool {
			return float64(got) > 0.97*float64(want) && float64(got) < 1.03*float64(want)
		}
		if mean := sum / n; !near(mean, l.Mean) || !near(draws[n*95/100], p95) {
			t.Errorf("%s: mean %s p95 %s", l, mean, draws[n*95/100])
		}
	}
}

func TestLatencyStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string, low, high int) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
		}
		low := ms("min", 0, 500)
		high := low + ms("width", 1, 500)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for _, l := range []Latency{
			Uniform(low, high),
			{Kind: KindLognormal, Mean: ms("mean", 1, 2000), Min: low, Max: high},
		} {
			if err := l.Validate(); err != nil {
				t.Fatal(err)
			}
			if d := l.draw(rng); d < low || d > high {
				t.Fatalf("%s drew %s", l, d)
			}
		}
	})
}

func TestBehaviourRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for body, field := range map[string]string{
		`{"slowness":2}`: "slowness",
		`{"first_token":{"kind":"fixed","average":"1s"}}`:     "first_token.average",
		`{"first_token":{"kind":"gauss"}}`:                    "first_token.kind",
		`{"call":{"kind":"fixed","mean":"fast"}}`:             "call.mean",
		`{"call":{"kind":"fixed","mean":800}}`:                "call.mean",
		`{"call":{"mean":"1s"}}`:                              "call.kind",
		`{"call":{"kind":"fixed","mean":"2h"}}`:               "call.mean",
		`{"call":"1s"}`:                                       "call",
		`{"gap":{"kind":"uniform","min":"2s","max":"1s"}}`:    "gap.max",
		`{"gap":{"kind":"uniform","mean":"2s"}}`:              "gap.kind",
		`{"gap":{"kind":"lognormal","mean":"1s","p95":"9s"}}`: "gap.p95",
		`{"gap":{"kind":"lognormal"}}`:                        "gap.mean",
		`{"error_share":1.5}`:                                 "error_share",
		`{"error_share":0.6,"truncate_share":0.6}`:            "truncate_share",
		`{"error_share":"half"}`:                              "error_share",
		`{"error_status":200}`:                                "error_status",
		`{"chunk_tokens":-1}`:                                 "chunk_tokens",
		`{"slow":-1}`:                                         "slow",
		`{"retry_after":"-1s"}`:                               "retry_after",
		`{"obedient":null}`:                                   "obedient",
		`null`:                                                "",
		`[]`:                                                  "",
	} {
		var b Behaviour
		err := json.Unmarshal([]byte(body), &b)
		if err == nil {
			err = b.Validate()
		}
		var fe *FieldError
		if !errors.As(err, &fe) || fe.Field != field {
			t.Errorf("%s: %v, want field %q", body, err, field)
		}
	}
}

func TestBehaviourSurvivesJSON(t *testing.T) {
	t.Parallel()
	want := Behaviour{
		FirstToken: Fixed(80 * time.Millisecond), Call: Lognormal(time.Second, 2*time.Second),
		Gap: Uniform(time.Millisecond, time.Second), ErrorShare: 0.25, RetryAfter: 90 * time.Second,
		InterleaveTools: true,
	}.filled()
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Behaviour
	if err := json.Unmarshal(raw, &got); err != nil || got != want {
		t.Errorf("%v: %+v became %+v through %s", err, want, got, raw)
	}
}
