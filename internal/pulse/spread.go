package pulse

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"
)

// The parts of a spread: each ends at 1.25 times the end of the one before, from 1 ms to 33
// minutes, and the last one holds what is longer. So a quantile is off by a quarter at most,
// and by an eighth where there is nothing to choose between.
const (
	spreadParts  = 67
	spreadFirst  = time.Millisecond
	spreadFactor = 1.25
)

// Spread counts how long something took, by length. Its zero value has counted nothing; a
// copy is one of its own. It is not safe for concurrent use.
type Spread [spreadParts]uint64

// spreadEnds are the ends of the parts but the last.
var spreadEnds = func() (ends [spreadParts - 1]time.Duration) {
	end := float64(spreadFirst)
	for i := range ends {
		ends[i] = time.Duration(end)
		end *= spreadFactor
	}
	return ends
}()

// Observe counts one length.
func (s *Spread) Observe(d time.Duration) {
	part, _ := slices.BinarySearch(spreadEnds[:], d)
	s[part]++
}

// Quantile returns the length that the part q of all, 0 to 1, did not exceed; ok is false
// if nothing was counted. What is beyond the last end counts as that.
func (s *Spread) Quantile(q float64) (_ time.Duration, ok bool) {
	var all uint64
	for _, n := range s {
		all += n
	}
	if all == 0 {
		return 0, false
	}
	rank := max(1, uint64(math.Ceil(q*float64(all))))
	var before uint64
	for part, n := range s {
		if before+n < rank {
			before += n
			continue
		}
		from, to := time.Duration(0), spreadEnds[min(part, len(spreadEnds)-1)]
		if part > 0 {
			from = spreadEnds[part-1]
		}
		return from + time.Duration(float64(to-from)*(float64(rank-before)-0.5)/float64(n)), true
	}
	return spreadEnds[len(spreadEnds)-1], true
}

// add counts what other has counted.
func (s *Spread) add(other *Spread) {
	for part, n := range other {
		s[part] += n
	}
}

// since returns what was counted since before; a part that has become less counts as nothing.
func (s *Spread) since(before *Spread) (d Spread) {
	for part, n := range s {
		d[part] = growth(before[part], n)
	}
	return d
}

// MarshalJSON leaves out the parts after the last one that has something.
func (s Spread) MarshalJSON() ([]byte, error) {
	last := len(s)
	for last > 0 && s[last-1] == 0 {
		last--
	}
	return json.Marshal(s[:last])
}

// UnmarshalJSON refuses more parts than there are.
func (s *Spread) UnmarshalJSON(body []byte) error {
	var parts []uint64
	if err := json.Unmarshal(body, &parts); err != nil {
		return err
	}
	if len(parts) > len(s) {
		return errors.New("a spread of too many parts")
	}
	*s = Spread{}
	copy(s[:], parts)
	return nil
}
