package control

import (
	"maps"
	"slices"
	"time"

	"sluice/internal/gate"
)

// next returns the reports that are due at now: news at once, and everything when its
// time has come. Nothing is told before the node is registered.
func (h *holder) next(now time.Time) []report {
	if h.validUntil.IsZero() {
		return nil
	}
	var all []report
	if now.Sub(h.fullAt) >= h.every() {
		all = append(all, h.full(now))
	}
	for h.epoch != 0 && h.news() {
		r := h.begin(now)
		r.Left, r.Outcomes, r.Released, r.Ended = h.left, h.outcomes, h.released, h.ended
		h.left, h.outcomes, h.released, h.ended = nil, nil, nil, nil
		r.Asks = h.page(r.N)
		all = append(all, r)
	}
	return all
}

// news reports whether there is something to tell at once.
func (h *holder) news() bool {
	return len(h.fresh)+len(h.left)+len(h.outcomes)+len(h.released)+len(h.ended) > 0
}

func (h *holder) every() time.Duration {
	if len(h.asks) > 0 {
		return askEvery
	}
	return renewEvery
}

func (h *holder) begin(now time.Time) report {
	h.n++
	h.sent[h.n] = sent{at: now}
	for n, s := range h.sent {
		if now.Sub(s.at) > lostAfter {
			delete(h.sent, n) // its acknowledgement would prove nothing any more
		}
	}
	return report{Node: h.node, N: h.n, Epoch: h.epoch, Stamp: now.Sub(h.origin), Seen: h.seen}
}

// full tells everything, with the details of asks that were not taken in yet.
func (h *holder) full(now time.Time) report {
	r := h.begin(now)
	h.fullAt = now
	r.Outcomes = h.outcomes
	h.left, h.outcomes, h.released, h.ended = nil, nil, nil, nil
	r.Full = true
	r.Waits = slices.Collect(maps.Keys(h.asks))
	for _, held := range h.holds {
		told := held.hold
		told.Age = now.Sub(held.at)
		r.Holds = append(r.Holds, told)
	}
	for key, id := range h.turns {
		key.ID = id
		r.Turns = append(r.Turns, key)
	}
	h.fresh = h.fresh[:0]
	for id, w := range h.asks {
		if !w.known {
			h.fresh = append(h.fresh, id)
		}
	}
	slices.Sort(h.fresh)
	r.Asks = h.page(r.N)
	return r
}

// page takes the next asks to be told, in the report n.
func (h *holder) page(n uint64) []gate.Ask {
	size := min(len(h.fresh), asksPage)
	var all []gate.Ask
	for _, id := range h.fresh[:size] {
		if w := h.asks[id]; w != nil {
			all = append(all, w.ask)
		}
	}
	h.sent[n] = sent{at: h.sent[n].at, asks: slices.Clone(h.fresh[:size])}
	if h.fresh = h.fresh[size:]; len(h.fresh) == 0 {
		h.fresh = nil
	}
	return all
}

// bye tells that the node ends; it must hold nothing.
func (h *holder) bye(now time.Time) report {
	r := h.full(now)
	r.Bye = true
	return r
}

// expire loses every permit if no controller has acknowledged a report for too long,
// and returns how many. It must come before anything is taken in or told: a process
// that was paused must not go on with what it held.
func (h *holder) expire(now time.Time) int {
	if now.Sub(h.ackedAt) < lostAfter {
		return 0
	}
	lost := 0
	for _, held := range h.holds {
		if !held.gone {
			held.gone = true
			close(held.lost)
			lost++
		}
	}
	return lost
}
