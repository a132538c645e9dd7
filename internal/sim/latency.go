package sim

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Kinds of latency distribution.
const (
	KindFixed     = "fixed"
	KindUniform   = "uniform"
	KindLognormal = "lognormal"
)

// The standard normal distribution's 95th percentile, which turns mean and p95 into the
// two parameters of a lognormal distribution.
const z95 = 1.6449

// Latency is a distribution of durations. The zero value stands for the default of the
// field it is used in. In JSON, durations are Go duration strings such as "800ms".
type Latency struct {
	// Kind is KindFixed, KindUniform or KindLognormal; empty takes the field's default.
	Kind string

	// Mean is the value of a fixed latency and the mean of a lognormal one.
	Mean time.Duration

	// P95 is the 95th percentile of a lognormal latency, from Mean up to 3.8 times Mean.
	// Defaults to 1.8 times Mean.
	P95 time.Duration

	// Min and Max bound a uniform latency, and clamp a lognormal one, which moves its mean
	// a little. Max 0 does not clamp.
	Min, Max time.Duration
}

// Fixed returns the latency that is always d; Fixed(0) is no latency at all.
func Fixed(d time.Duration) Latency { return Latency{Kind: KindFixed, Mean: d} }

// Uniform returns the latency that is spread evenly from low to high.
func Uniform(low, high time.Duration) Latency {
	return Latency{Kind: KindUniform, Min: low, Max: high}
}

// Lognormal returns the latency of that mean and 95th percentile.
func Lognormal(mean, p95 time.Duration) Latency {
	return Latency{Kind: KindLognormal, Mean: mean, P95: p95}
}

// Validate returns a *FieldError for the first field that is wrong.
func (l Latency) Validate() error {
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"mean", l.Mean}, {"p95", l.P95}, {"min", l.Min}, {"max", l.Max}} {
		if d.value < 0 || d.value > time.Hour {
			return bad(d.field, "%s: must be from 0s to 1h", d.value)
		}
	}
	switch l.Kind {
	case "", KindFixed:
		if l.P95 != 0 || l.Min != 0 || l.Max != 0 {
			return bad("kind", "%q takes mean only", l.Kind)
		}
		if l.Kind == "" && l.Mean != 0 {
			return bad("kind", "must be fixed, uniform or lognormal when mean is set")
		}
	case KindUniform:
		if l.Mean != 0 || l.P95 != 0 {
			return bad("kind", "uniform takes min and max only")
		}
		if l.Max < l.Min {
			return bad("max", "%s: must not be below min %s", l.Max, l.Min)
		}
	case KindLognormal:
		return l.validateLognormal()
	default:
		return bad("kind", "%q: must be fixed, uniform or lognormal", l.Kind)
	}
	return nil
}

func (l Latency) validateLognormal() error {
	if l.Mean == 0 {
		return bad("mean", "must be above 0s for a lognormal latency")
	}
	if l.P95 != 0 && (l.P95 < l.Mean || float64(l.P95) > 3.8*float64(l.Mean)) {
		return bad("p95", "%s: must be from mean %s to 3.8 times mean", l.P95, l.Mean)
	}
	if l.Max != 0 && l.Max < l.Min {
		return bad("max", "%s: must not be below min %s", l.Max, l.Min)
	}
	return nil
}

func (l Latency) or(other Latency) Latency {
	if l.Kind == "" {
		return other
	}
	return l
}

// draw returns one duration. It is not safe for concurrent use of one rng.
func (l Latency) draw(rng *rand.Rand) time.Duration {
	switch l.Kind {
	case KindUniform:
		return l.Min + time.Duration(rng.Float64()*float64(l.Max-l.Min))
	case KindLognormal:
		p95 := l.P95
		if p95 == 0 {
			p95 = l.Mean * 9 / 5
		}
		// mean = exp(mu+s²/2) and p95 = exp(mu+z·s), solved for the smaller s: the other
		// root is a distribution with a mode near zero and a tail of minutes.
		s := z95 - math.Sqrt(math.Max(0, z95*z95-2*math.Log(float64(p95)/float64(l.Mean))))
		d := time.Duration(float64(l.Mean) * math.Exp(s*rng.NormFloat64()-s*s/2))
		if l.Max > 0 {
			d = min(d, l.Max)
		}
		return max(d, l.Min)
	default:
		return l.Mean
	}
}

type latencyWire struct {
	Kind string `json:"kind"`
	Mean string `json:"mean,omitempty"`
	P95  string `json:"p95,omitempty"`
	Min  string `json:"min,omitempty"`
	Max  string `json:"max,omitempty"`
}

// MarshalJSON writes durations as Go duration strings and leaves zero ones out.
func (l Latency) MarshalJSON() ([]byte, error) {
	text := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	return json.Marshal(latencyWire{l.Kind, text(l.Mean), text(l.P95), text(l.Min), text(l.Max)})
}

// UnmarshalJSON replaces the whole distribution: a field that is absent is zero. An
// unknown field or a bad duration is a *FieldError.
func (l *Latency) UnmarshalJSON(raw []byte) error {
	next := Latency{}
	err := decodeFields(raw, map[string]any{
		"kind": &next.Kind, "mean": &next.Mean, "p95": &next.P95, "min": &next.Min, "max": &next.Max,
	})
	if err != nil {
		return err
	}
	*l = next
	return nil
}

// String describes the distribution for a table or a log.
func (l Latency) String() string {
	switch l.Kind {
	case KindUniform:
		return fmt.Sprintf("uniform %s to %s", l.Min, l.Max)
	case KindLognormal:
		return fmt.Sprintf("lognormal mean %s p95 %s", l.Mean, l.P95)
	default:
		return l.Mean.String()
	}
}
