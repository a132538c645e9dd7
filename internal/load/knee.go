package load

import (
	"fmt"
	"math"
)

// What ends a ramp.
const (
	leastGain  = 0.10 // of throughput, for twice the calls at once
	mostSlower = 2    // times the base's p95
	mostFailed = 0.05 // of a step's calls
)

// What is proposed of the knee: more where going beyond it only costs time, less where
// the vendor refuses or fails.
const (
	softShare = 0.8
	hardShare = 0.7
)

// Step is one number of calls at once, kept up for a while.
type Step struct {
	AtOnce    int     `json:"at_once"`
	Completed int     `json:"completed"`
	Refused   int     `json:"refused"` // 429
	Failed    int     `json:"failed"`
	MeanMS    float64 `json:"mean_ms"` // of a completed call
	Took      Spread  `json:"took_ms"`
	First     Spread  `json:"first_token_ms"`
	// PerSecond is calls at once ÷ mean, which is what a loop without pauses completes.
	PerSecond float64 `json:"per_second"`
	Tokens    int     `json:"tokens"`
	Why       string  `json:"why,omitempty"` // it lies beyond the knee
	Hard      bool    `json:"hard,omitempty"`
}

// judge says why a step lies beyond the knee, or nothing: by the base, which is one call
// at a time, and by the step below. hard: the vendor refuses or fails there.
func (s *Step) judge(base, below *Step) (why string, hard bool) {
	all := s.Completed + s.Refused + s.Failed
	switch {
	case s.Refused > 0:
		return fmt.Sprintf("%d of %d calls refused with 429", s.Refused, all), true
	case s.Completed == 0:
		return "no call completed", true
	case s.Failed > 1 && float64(s.Failed) > mostFailed*float64(all):
		return fmt.Sprintf("%d of %d calls failed", s.Failed, all), true
	case base == nil || below == nil:
		return "", false
	case s.Took.P95 > mostSlower*max(base.Took.P95, 1):
		return fmt.Sprintf("p95 of %d ms is more than %d times the %d ms of one call at a time", s.Took.P95, mostSlower, base.Took.P95), false
	}
	if gain := gainPerDoubling(below, s); gain < leastGain {
		return fmt.Sprintf("throughput gains %.0f%% for twice the calls", 100*gain), false
	}
	return "", false
}

// gainPerDoubling is what twice the calls at once would gain, by two steps that need not
// be a factor of two apart.
func gainPerDoubling(below, s *Step) float64 {
	if below.PerSecond <= 0 || s.PerSecond <= 0 || s.AtOnce <= below.AtOnce {
		return 0
	}
	doublings := math.Log2(float64(s.AtOnce) / float64(below.AtOnce))
	return math.Pow(s.PerSecond/below.PerSecond, 1/doublings) - 1
}

// stepsUpTo returns 1, 2, 5, 10, 20, 50 … and most itself.
func stepsUpTo(most int) []int {
	var all []int
	for unit := 1; ; unit *= 10 {
		for _, n := range []int{1, 2, 5} {
			if n*unit >= most {
				return append(all, most)
			}
			all = append(all, n*unit)
		}
	}
}

// between returns the next step between one below the knee and one beyond it, or 0 when
// they are close enough.
func between(good, bad int) int {
	middle := int(math.Round(math.Sqrt(float64(good) * float64(bad))))
	if middle <= good || middle >= bad || bad-good <= max(1, good/10) {
		return 0
	}
	return middle
}

// Proposal is what a ramp comes to.
type Proposal struct {
	Knee      int     `json:"knee"`  // calls at once
	Found     bool    `json:"found"` // else the ramp ended before the knee
	MeanMS    float64 `json:"mean_ms"`
	PerSecond float64 `json:"per_second"` // knee ÷ mean
	Share     float64 `json:"share"`
	Permits   int     `json:"permits"` // knee × share
	QPS       int     `json:"qps"`     // knee ÷ mean × share
	Why       string  `json:"why"`
}

// propose takes the highest step that is not beyond the knee.
func propose(knee *Step, beyond *Step) Proposal {
	p := Proposal{Knee: knee.AtOnce, MeanMS: knee.MeanMS, PerSecond: knee.PerSecond, Share: softShare}
	if beyond == nil {
		p.Why = fmt.Sprintf("no knee up to %d calls at once: the limits are what was shown", knee.AtOnce)
	} else {
		p.Found, p.Why = true, fmt.Sprintf("with %d calls at once: %s", beyond.AtOnce, beyond.Why)
		if beyond.Hard {
			p.Share = hardShare
		}
	}
	// The same rounding as the rules': down, and exact in decimals.
	tenths := int(math.Round(10 * p.Share))
	p.Permits = max(1, knee.AtOnce*tenths/10)
	p.QPS = max(1, int(knee.PerSecond*p.Share))
	return p
}

// rules writes the proposal as a piece of a rules document.
func (p Proposal) rules(a Account) string {
	key := ""
	if a.KeyEnv != "" {
		key = ", key_env: " + a.KeyEnv
	}
	return fmt.Sprintf(`vendors:
  - name: %s
    endpoints: [{url: %q%s}]
    models: {strong: %[4]q, light: %[4]q}
    quota: %d       # the knee; the contract's number where that is lower
    headroom: %g    # %d permits
    qps: %d
`, a.Name, a.URL, key, a.Model, p.Knee, p.Share, p.Permits, p.QPS)
}
