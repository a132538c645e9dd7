package api

import (
	"context"
	"maps"
	"math"
	"time"

	"sluice/internal/chat"
	"sluice/internal/pulse"
	"sluice/internal/rules"
)

// LaneFlow is what goes through a lane, over all processes. What a node that has just
// started cannot know is left out, or begins with it.
type LaneFlow struct {
	OldestMS         int64   `json:"oldest_ms" doc:"how long its oldest ticket has been there; 0: it is empty"`
	WaitP50MS        *int64  `json:"wait_p50_ms,omitempty" doc:"from acceptance to the route decision, of the last minute's answers; left out where there were none"`
	WaitP95MS        *int64  `json:"wait_p95_ms,omitempty"`
	InPerMinute      *uint64 `json:"in_per_minute,omitempty" doc:"accepted in the last minute"`
	OutPerMinute     *uint64 `json:"out_per_minute,omitempty" doc:"ended in the last minute, in whatever way"`
	RefusedPerMinute *uint64 `json:"refused_per_minute,omitempty" doc:"turned away for load or a limit in the last minute"`
}

// Occupant is the permits of a vendor that tickets of a tenant in a lane hold.
type Occupant struct {
	Tenant string    `json:"tenant" doc:"empty: taken over from a node that did not say"`
	Lane   chat.Lane `json:"lane"`
	InUse  int       `json:"in_use"`
}

// VendorDemand is who holds and waits for a vendor's permits, as the controller knows it.
type VendorDemand struct {
	Crowd        []Occupant        `json:"crowd" nullable:"false" doc:"who holds the most permits, most first; at most 20"`
	Waiters      map[chat.Lane]int `json:"waiters" nullable:"false" doc:"who waits and wishes for this vendor first"`
	TokensUsed   int               `json:"tokens_used" doc:"in the last minute, with what running calls have reserved"`
	BreakerUntil *time.Time        `json:"breaker_until,omitempty" doc:"when the first probe goes; left out where the breaker is not open, or was opened by hand"`
}

// VendorLoad is how a vendor is doing.
type VendorLoad struct {
	Base           int `json:"base" doc:"of the limit: permits for all lanes"`
	ElasticPermits int `json:"elastic_permits" doc:"of the limit: permits for lanes that may borrow"`
	TokensLimit    int `json:"tokens_limit" doc:"tokens a minute; 0: no limit"`
	VendorDemand
	P50MS         *int64  `json:"p50_ms,omitempty" doc:"how long the calls of the last minute took; left out where there were none"`
	P95MS         *int64  `json:"p95_ms,omitempty"`
	ThrottledHour *uint64 `json:"throttled_hour,omitempty" doc:"calls of the last hour that were answered 429"`
}

// Life is what is under way and what came of it, over all processes.
type Life struct {
	Routes      map[chat.Route]uint64      `json:"routes,omitempty" doc:"answers of the last hour"`
	Sockets     *int                       `json:"sockets,omitempty"`
	Promises    map[chat.PromiseStatus]int `json:"promises,omitempty" doc:"by how they stand, up to a minute ago"`
	DeadLetters *int                       `json:"dead_letters,omitempty"`
}

// recent returns what all processes counted of late, or nil.
func (a *API) recent() *pulse.Recent {
	if a.deps.Board == nil {
		return nil
	}
	r := a.deps.Board.Recent()
	return &r
}

func (a *API) laneFlow(lane chat.Lane, oldest time.Time) (f LaneFlow) {
	if !oldest.IsZero() {
		f.OldestMS = max(0, time.Since(oldest).Milliseconds())
	}
	recent := a.recent()
	if recent == nil {
		return f
	}
	f.WaitP50MS, f.WaitP95MS = quantiles(recent, pulse.OfLane(lane, pulse.Wait))
	counts := recent.Minute.Counts
	for what, to := range map[string]**uint64{pulse.In: &f.InPerMinute, pulse.Out: &f.OutPerMinute, pulse.Refused: &f.RefusedPerMinute} {
		n := counts[pulse.OfLane(lane, what)]
		*to = &n
	}
	return f
}

// quantiles returns the middle and the 95th percentile in milliseconds; nil: nothing was measured.
func quantiles(recent *pulse.Recent, name string) (p50, p95 *int64) {
	s := recent.Minute.Spreads[name]
	at := func(q float64) *int64 {
		d, ok := s.Quantile(q)
		if !ok {
			return nil
		}
		ms := int64(math.Round(float64(d) / float64(time.Millisecond)))
		return &ms
	}
	return at(0.5), at(0.95)
}

func (a *API) vendorLoad(v *rules.Vendor, s VendorState, recent *pulse.Recent) VendorLoad {
	l := VendorLoad{
		Base: max(1, v.Limit()-v.ElasticLimit()), ElasticPermits: v.ElasticLimit(), TokensLimit: v.TokensPerMinute, VendorDemand: s.Demand,
	}
	if l.Crowd == nil {
		l.Crowd = []Occupant{}
	}
	if l.Waiters == nil {
		l.Waiters = map[chat.Lane]int{}
	}
	if recent != nil {
		l.P50MS, l.P95MS = quantiles(recent, pulse.OfVendor(v.Name, pulse.Took))
		throttled := a.deps.Board.Hour(pulse.OfVendor(v.Name, pulse.Throttled))
		l.ThrottledHour = &throttled
	}
	return l
}

// life tells what all processes have under way. What cannot be read now is left out.
func (a *API) life(ctx context.Context) (l Life) {
	if dead, err := a.deps.Queue.DeadCount(ctx); err == nil {
		l.DeadLetters = &dead
	}
	if a.deps.Owed != nil {
		l.Promises = a.deps.Owed(ctx)
	}
	recent := a.recent()
	if recent == nil {
		return l
	}
	l.Sockets, l.Routes = &recent.Sockets, map[chat.Route]uint64{}
	for _, route := range pulse.Routes() {
		l.Routes[route] = a.deps.Board.Hour(pulse.OfRoute(route))
	}
	return l
}

// gauges reads how everything stands at one moment, by the names of its charts.
func (a *API) gauges(ctx context.Context) map[string]float64 {
	all := map[string]float64{}
	for _, lane := range chat.Lanes() {
		f, err := a.deps.Queue.Fill(ctx, lane)
		if err != nil {
			continue
		}
		all[pulse.OfLane(lane, "depth")], all[pulse.OfLane(lane, "oldest_ms")] = float64(f.Depth), 0
		if !f.Oldest.IsZero() {
			all[pulse.OfLane(lane, "oldest_ms")] = float64(max(0, time.Since(f.Oldest).Milliseconds()))
		}
	}
	states := a.states(ctx)
	for _, v := range a.deps.Rules().Vendors {
		if s, known := states[v.Name]; known {
			all[pulse.OfVendor(v.Name, "in_use")], all[pulse.OfVendor(v.Name, "limit")] = float64(s.InUse), float64(s.Limit)
		}
	}
	if dead, err := a.deps.Queue.DeadCount(ctx); err == nil {
		all["dead_letters"] = float64(dead)
	}
	if a.deps.Owed != nil {
		if owed := a.deps.Owed(ctx); owed != nil {
			all["promises.broken"], all["promises.promised"] = float64(owed[chat.PromiseBroken]), float64(owed[chat.Promised])
		}
	}
	if a.deps.Vendors != nil {
		levels, _, _ := a.deps.Vendors.Levels(ctx) // the changes may be away
		highest := 0
		for level := range maps.Values(levels) {
			highest = max(highest, level)
		}
		all["level"] = float64(highest)
	}
	return all
}
