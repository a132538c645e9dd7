package load

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// countVendors fills in what each vendor saw, and how much of all permits was used.
func (r *run) countVendors(out *Report) {
	answered := map[string]int{}
	r.answered(func(j *job) {
		if j.ticket.Vendor != "" {
			answered[j.ticket.Vendor]++
		}
	})
	stats := r.watch.last()
	names := map[string]bool{}
	for _, of := range []map[string]int{r.target.Limits, r.target.Quotas, answered} {
		for name := range of {
			names[name] = true
		}
	}
	for name := range stats {
		names[name] = true
	}
	out.Vendors = []VendorLine{}
	from, to := r.startedAt, r.lastDecision()
	out.Capacity.WindowMS = to.Sub(from).Milliseconds()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v := VendorLine{Name: name, Limit: r.target.Limits[name], Quota: r.target.Quotas[name], Answered: answered[name]}
		if s, ok := stats[name]; ok {
			v.Measured, v.Quota = true, cmp.Or(v.Quota, s.Quota)
			v.MaxInFlight, v.Calls, v.Completed = s.MaxInFlight, s.Calls, s.Completed
			v.Refused, v.Cancelled = s.Refused, s.Cancelled
			v.Errors = s.Errors + s.Dropped + s.Truncated + s.Garbage + s.Invalid
			mean, completed := r.watch.use(name, from, to)
			v.Use = useOf(mean, completed, v.Limit, to.Sub(from))
			if v.Limit > 0 {
				out.Capacity.add(v)
			}
		}
		out.Vendors = append(out.Vendors, v)
	}
}

// useOf puts the calls of a window beside what the limit allows. A mean call lasts as long
// as mean × window ÷ completed, so the calls that fit are completed × limit ÷ mean.
func useOf(mean, completed float64, limit int, window time.Duration) Use {
	u := Use{Mean: mean, Completed: completed}
	if limit > 0 && window > 0 {
		u.Share = mean / float64(limit)
	}
	if u.Share > 0 {
		u.Capacity = completed / u.Share
	}
	return u
}

func (c *Capacity) add(v VendorLine) {
	c.Measured = true
	c.Limit += v.Limit
	c.Use.Mean += v.Use.Mean
	c.Use.Completed += v.Use.Completed
	c.Use.Capacity += v.Use.Capacity
	c.Use.Share = c.Use.Mean / float64(c.Limit)
}

// lastDecision is when the last ticket stopped waiting for a route.
func (r *run) lastDecision() time.Time {
	last := r.startedAt
	r.answered(func(j *job) {
		if t := &j.ticket; t.QueuedMS != nil {
			last = later(last, t.AcceptedAt.Add(time.Duration(*t.QueuedMS)*time.Millisecond))
		}
	})
	return last
}

// series puts what happened into seconds.
func (r *run) series() []Second {
	var all []Second
	at := func(t time.Time) *Second {
		i := int(max(t.Sub(r.startedAt), 0) / time.Second)
		i = min(i, int(4*maxFor/time.Second)) // a clock that is far off must not cost memory
		for len(all) <= i {
			all = append(all, Second{At: len(all)})
		}
		return &all[i]
	}
	for _, j := range r.jobs {
		if j.ticket.TicketID != "" && !j.ticket.AcceptedAt.IsZero() {
			at(j.ticket.AcceptedAt).Accepted++
		}
		if j.state == ended && j.ticket.EndedAt != nil {
			at(*j.ticket.EndedAt).Ended++
		}
	}
	if r.watch == nil {
		return all
	}
	// What the checks take is no part of the picture.
	for i := 1; i < len(r.watch.samples) && !r.watch.samples[i-1].at.After(r.answeredAt); i++ {
		before, now := r.watch.samples[i-1], r.watch.samples[i]
		s := at(earlier(now.at, r.answeredAt))
		for name, stats := range now.stats {
			s.see(name, stats.InFlight, stats.Completed-before.stats[name].Completed)
		}
	}
	return all
}

func (s *Second) see(vendor string, inFlight, completed int) {
	if s.InFlight == nil {
		s.InFlight, s.Completed = map[string]int{}, map[string]int{}
	}
	s.InFlight[vendor] = max(s.InFlight[vendor], inFlight)
	s.Completed[vendor] += completed
}
