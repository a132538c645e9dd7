package control

import (
	"time"
)

// dismissEvery is how often is looked for those who wait in vain.
const dismissEvery = 250 * time.Millisecond

// tick does what time alone brings about. It returns the nodes that are to be probed.
func (s *server) tick(now time.Time) (probes []string) {
	s.now = now
	if !s.serving(now) {
		return nil
	}
	for _, n := range s.nodes {
		if s.quiet(n, now) {
			probes = append(probes, n.name)
		}
	}
	s.learn(now)
	s.stretch(now)
	s.level(now)
	s.grant(now)
	if now.Sub(s.dismissed) >= dismissEvery {
		s.dismissed = now
		s.table.Measure(now)
		s.dismiss(now)
	}
	return probes
}

// silence returns how long a node has not been heard by this controller.
func (s *server) silence(n *node, now time.Time) time.Duration {
	if n.heardAt.IsZero() {
		return now.Sub(s.elected)
	}
	return now.Sub(n.heardAt)
}

// quiet treats a node by how long it has been silent, and reports whether to probe it.
func (s *server) quiet(n *node, now time.Time) (probe bool) {
	silence := s.silence(n, now)
	switch {
	case silence < suspendAfter:
		if n.suspended {
			s.resume(n)
		}
	case !n.suspended:
		s.suspend(n)
	}
	if s.dead(n, now) {
		s.drop(n)
		return false
	}
	if silence >= silentAfter {
		// Its jobs come to others, who need their sessions' turns. When it wakes, it
		// ends its calls before anything else.
		s.endTurns(n)
		s.outlast(n, now)
	}
	if s.over(n, now) || n.past && len(n.permits) == 0 {
		s.drop(n)
		return false
	}
	if n.past {
		return false
	}
	// One that this controller has never heard is asked from the start.
	if n.known && silence < probeAfter || now.Sub(n.probedAt) < probeEvery {
		return false
	}
	n.probedAt = now
	return true
}

// cutAfter is how long probes must end without any answer before "nobody listens" proves
// no death any more: a broker drops the connection of a node that is cut off, in time,
// and that node's calls go on at their vendors. One late answer proves nothing.
const cutAfter = 2 * time.Second

// dead reports whether nobody has listened for so long that a living holder has ended
// its calls. If a probe ended without any answer since the node was heard, it may have
// been paused before its connection broke: then it is given the whole time anew. One that
// did not answer for longer is cut off, and silent: it is never taken for dead.
func (s *server) dead(n *node, now time.Time) bool {
	if n.absentSince.IsZero() || n.slowUntil.Sub(n.slowSince) >= cutAfter {
		return false
	}
	if now.Sub(n.absentSince) >= silentAfter {
		return true
	}
	return n.known && n.slowSince.IsZero() && s.silence(n, now) >= deadAfter && now.Sub(n.absentSince) >= probeEvery
}

// over reports whether a node that was never heard can hold nothing any more, or one
// that was heard holds nothing and is gone.
func (s *server) over(n *node, now time.Time) bool {
	if !n.known {
		return now.Sub(s.elected) >= s.cfg.Hard+hardMargin
	}
	return len(n.permits) == 0 && s.silence(n, now) >= s.cfg.Hard+hardMargin
}

// outlast takes back those permits of a silent node whose calls have ended by their
// hard deadlines.
func (s *server) outlast(n *node, now time.Time) {
	for id, h := range n.permits {
		if now.Sub(h.ends) >= time.Second {
			s.release(id)
		}
	}
}

// probed takes in what a probe of a node has shown. One that answers is neither dead
// nor heard: only its reports tell what it holds.
func (s *server) probed(name string, absent, answered bool, now time.Time) {
	n := s.nodes[name]
	switch {
	case n == nil || n.heardAt.After(n.probedAt): // a report came after it was sent
	case absent && n.absentSince.IsZero():
		n.absentSince = now
	case absent:
	default:
		n.absentSince = time.Time{}
		if answered {
			n.slowSince, n.slowUntil = time.Time{}, time.Time{}
			break
		}
		if n.slowSince.IsZero() {
			n.slowSince = now
		}
		n.slowUntil = now
	}
}

// learn looks whether every node that may hold permits of a former controller is
// known, dead, or has been silent for so long that it is charged.
func (s *server) learn(now time.Time) {
	if s.cfg.Alone {
		s.learned = s.learned || now.Sub(s.elected) >= s.cfg.Settle
		return
	}
	if s.learned {
		return
	}
	for _, n := range s.nodes {
		if !n.registered || n.known {
			continue
		}
		if now.Sub(s.elected) < chargeAfter {
			return
		}
		n.charged = true
	}
	s.learned = true
}

// silent returns how many permits of a vendor are with holders that may be calling
// without being heard: those of silent nodes, and what unheard nodes may hold.
func (s *server) silent(vendor string, now time.Time) (known, charge int) {
	unheard := now.Before(s.owed)
	for _, n := range s.nodes {
		unheard = unheard || n.charged && !n.known
		if s.silence(n, now) < silentAfter {
			continue
		}
		for _, h := range n.permits {
			if h.vendor == vendor {
				known++
			}
		}
	}
	if unheard {
		// All permits of former controllers together were at most the limit and what
		// they charged; the rest is what the heard nodes did not report.
		charge = max(0, s.limit(vendor)+s.found[vendor]-s.adopted[vendor])
	}
	return known, charge
}

// stretch lets quota − limit permits of a vendor come back in all while holders are
// silent, as far as the charge is in the bucket.
func (s *server) stretch(now time.Time) {
	for _, vendor := range s.vendors() {
		_, charge := s.silent(vendor, now)
		s.table.Stretch(vendor, min(s.grace(vendor, now), s.written[vendor])-charge)
	}
}

// grace returns how many permits beyond a vendor's limit may be in use.
func (s *server) grace(vendor string, now time.Time) int {
	known, charge := s.silent(vendor, now)
	return min(max(0, s.cfg.Quotas[vendor]-s.limit(vendor)), known+charge)
}

// chargeDue returns the charge that is to be written to the bucket, or nil.
func (s *server) chargeDue(now time.Time) map[string]int {
	if !s.learned || s.closed || !now.Before(s.until) {
		return nil
	}
	due, all := false, map[string]int{}
	for _, vendor := range s.vendors() {
		used, _ := s.table.InUse(vendor, now)
		_, charge := s.silent(vendor, now)
		// What was charged stays so until it is back. Permits above a limit that was lowered
		// are no charge: nobody is silent, they end in their own time.
		if need := max(s.grace(vendor, now), min(s.written[vendor], used+charge-s.limit(vendor))); need > 0 {
			all[vendor] = need
			due = due || need > s.written[vendor] || now.Sub(s.wroteAt) >= silentAfter
		}
	}
	if !due {
		return nil
	}
	return all
}

// charged takes in that a charge is in the bucket.
func (s *server) charged(all map[string]int, now time.Time) {
	s.written, s.wroteAt = all, now
	s.stretch(now)
	s.grant(now)
}

// limit returns the permits of a vendor by the rules.
func (s *server) limit(vendor string) int { return s.cfg.Gate.Vendors[vendor].Limit }
