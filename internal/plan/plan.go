package plan

import (
	"errors"
	"fmt"
	"math"
	"time"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

// Load is what is expected and what was measured of the vendors' calls.
type Load struct {
	Rate       float64       // messages a second at the peak. Required.
	Calls      float64       // calls of a vendor that an answer takes, at least 1. Defaults to 1.
	Call       time.Duration // a call, on average. Required.
	P99        time.Duration // of calls. Defaults to 2.5 times Call.
	FirstToken time.Duration // p99 of the time to the first token. Defaults to P99.
	Tokens     int           // of a call, prompt and answer. Defaults to 1,000.
	Sockets    int           // open at once. Defaults to 0.
}

// Validate names the first field that is wrong, with its value.
func (l Load) Validate() error {
	switch {
	case !(l.Rate > 0 && l.Rate <= 100_000): // nor is it NaN
		return fmt.Errorf("rate %g: must be above 0 and at most 100000 messages a second", l.Rate)
	case l.Call < time.Millisecond || l.Call > time.Hour:
		return fmt.Errorf("call %s: must be from 1ms to 1h", l.Call)
	case l.Calls != 0 && !(l.Calls >= 1 && l.Calls <= 100):
		return fmt.Errorf("calls %g: must be from 1 to 100", l.Calls)
	case l.P99 != 0 && (l.P99 < l.Call || l.P99 > time.Hour):
		return fmt.Errorf("p99 %s: must be from the mean of %s to 1h", l.P99, l.Call)
	case l.FirstToken < 0 || l.FirstToken > time.Hour:
		return fmt.Errorf("first token %s: must be from 0s to 1h", l.FirstToken)
	case l.FirstToken > l.filled().P99:
		return fmt.Errorf("first token %s: cannot be above the p99 of calls, %s", l.FirstToken, l.filled().P99)
	case l.Tokens < 0 || l.Sockets < 0:
		return errors.New("tokens and sockets: must not be negative")
	}
	return nil
}

func (l Load) filled() Load {
	if l.Calls == 0 {
		l.Calls = 1
	}
	if l.P99 == 0 {
		l.P99 = l.Call * 5 / 2
	}
	if l.FirstToken == 0 {
		l.FirstToken = l.P99
	}
	if l.Tokens == 0 {
		l.Tokens = 1000
	}
	return l
}

// Plan is what the rules can carry under a load.
type Plan struct {
	Vendors  []Vendor `json:"vendors"`
	Capacity float64  `json:"capacity"` // answers of vendors a second
	Busy     float64  `json:"busy"`     // share of the capacity that the load takes
	Waiting  float64  `json:"waiting"`  // share of messages that find every permit in use
	P50MS    int64    `json:"wait_p50_ms"`
	P95MS    int64    `json:"wait_p95_ms"` // -1: the line grows without end
	P99MS    int64    `json:"wait_p99_ms"`
	Best     float64  `json:"best"` // messages a second at which the p95 wait reaches half of the shortest max_wait
	Lanes    []Lane   `json:"lanes"`
	Nodes    int      `json:"socket_nodes,omitempty"` // that the sockets need
	Advice   []string `json:"advice"`
}

// Vendor is what one account gives.
type Vendor struct {
	Name    string  `json:"name"`
	Permits int     `json:"permits"`
	Elastic int     `json:"elastic"` // of these only for lanes with elastic: true
	Calls   float64 `json:"calls"`   // a second
	By      string  `json:"by"`      // what limits them: permits, qps or tokens
	Used    int     `json:"used"`    // permits that can be in use under that limit
}

// Lane is how a lane's limits fit.
type Lane struct {
	Lane     chat.Lane `json:"lane"`
	Bound    int       `json:"bound"`
	MaxWait  int64     `json:"max_wait_ms"`
	Answered int       `json:"answered"` // messages that vendors can begin within max_wait
	Overdue  float64   `json:"overdue"`  // share that waits longer, if all of the load is this lane's
}

// margin is how far a time-out stands above the p99 that was measured.
const margin = 1.5

// bestShare of max_wait may be spent by one in twenty at the rate that is advised.
const bestShare = 0.5

// New computes a plan. An error names what is wrong with the load.
func New(r *rules.Rules, l Load) (*Plan, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	l = l.filled()
	p := &Plan{Advice: []string{}}
	used := 0
	for _, v := range r.Vendors {
		got := account(v, l)
		p.Vendors = append(p.Vendors, got)
		p.Capacity += got.Calls / l.Calls
		used += got.Used
	}
	at := line{permits: max(1, used), rate: l.Rate * l.Calls, call: l.Call}
	p.Busy, p.Waiting = at.busy(), at.waits()
	p.P50MS, p.P95MS, p.P99MS = milliseconds(at.quantile(0.5)), milliseconds(at.quantile(0.95)), milliseconds(at.quantile(0.99))
	shortest := time.Duration(math.MaxInt64)
	for _, name := range chat.Lanes() {
		if !name.Interactive() {
			continue
		}
		lane := r.Lanes[name]
		shortest = min(shortest, lane.MaxWait)
		p.Lanes = append(p.Lanes, Lane{
			Lane: name, Bound: lane.Bound, MaxWait: lane.MaxWait.Milliseconds(),
			Answered: int(p.Capacity * lane.MaxWait.Seconds()), Overdue: at.longer(lane.MaxWait),
		})
	}
	p.Best = best(at, time.Duration(bestShare*float64(shortest))) / l.Calls
	if l.Sockets > 0 {
		p.Nodes = (l.Sockets + r.Sockets.Max - 1) / r.Sockets.Max
	}
	p.advise(r, l)
	return p, nil
}

// account judges one vendor by its contract: calls under way, calls a second, tokens a minute.
func account(v rules.Vendor, l Load) Vendor {
	got := Vendor{Name: v.Name, Permits: v.Limit(), Elastic: v.ElasticLimit(), By: "permits"}
	got.Calls = float64(got.Permits) / l.Call.Seconds()
	if qps := float64(v.QPS); v.QPS > 0 && qps < got.Calls {
		got.Calls, got.By = qps, "qps"
	}
	if tokens := float64(v.TokensPerMinute) / 60 / float64(l.Tokens); v.TokensPerMinute > 0 && tokens < got.Calls {
		got.Calls, got.By = tokens, "tokens"
	}
	got.Used = min(got.Permits, int(math.Ceil(got.Calls*l.Call.Seconds()-1e-9)))
	return got
}

// best is the highest rate at which one call in twenty waits no longer than d, to a tenth
// of a percent.
func best(at line, d time.Duration) float64 {
	low, high := 0.0, float64(at.permits)/at.call.Seconds()
	for high-low > high/1000 {
		at.rate = (low + high) / 2
		if q := at.quantile(0.95); q >= 0 && q <= d {
			low = at.rate
		} else {
			high = at.rate
		}
	}
	return low
}

func milliseconds(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return d.Milliseconds()
}
