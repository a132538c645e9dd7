package pulse

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// The last hour is kept in steps.
const (
	Step  = 10 * time.Second
	Steps = int(time.Hour / Step)
)

// maxSeries is how many charts there are at most: a further one is not drawn. One that has
// known nothing for an hour makes room.
const maxSeries = 240

// Hour is the last hour of everything that has a chart: a value for each step, or none where
// nobody knows. It is not safe for concurrent use.
type Hour struct {
	newest int64 // number of the newest step since the epoch; 0: none yet
	series map[string]*series
}

// series is one chart. Its place for a step is the step's number modulo Steps.
type series struct {
	values [Steps]float64 // NaN: unknown
	known  int64          // the newest step with a value
}

// NewHour returns an hour of which nothing is known.
func NewHour() *Hour { return &Hour{series: map[string]*series{}} }

// stepOf returns the number of the step that an instant is in.
func stepOf(at time.Time) int64 { return at.UnixNano() / int64(Step) }

// endOf returns when a step is over.
func endOf(step int64) time.Time { return time.Unix(0, (step+1)*int64(Step)).UTC() }

// put enters the values of a step. Those between the newest and it stay unknown; of a step
// that is older than the newest nothing is taken in.
func (h *Hour) put(step int64, values map[string]float64) {
	if step < h.newest || h.newest > 0 && step == h.newest {
		return
	}
	for next := max(h.newest+1, step-int64(Steps)+1); next <= step; next++ {
		for _, s := range h.series {
			s.values[next%int64(Steps)] = math.NaN()
		}
	}
	h.newest = step
	for name, s := range h.series {
		if step-s.known >= int64(Steps) {
			delete(h.series, name)
		}
	}
	for name, v := range values {
		h.set(name, step, v)
	}
}

// set enters one value of a step within the hour.
func (h *Hour) set(name string, step int64, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	s := h.series[name]
	if s == nil {
		if len(h.series) >= maxSeries {
			return
		}
		s = &series{}
		for i := range s.values {
			s.values[i] = math.NaN()
		}
		h.series[name] = s
	}
	s.values[step%int64(Steps)] = v
	s.known = max(s.known, step)
}

// values returns what is known of a step within the hour.
func (h *Hour) values(step int64) map[string]float64 {
	all := map[string]float64{}
	for name, s := range h.series {
		if v := s.values[step%int64(Steps)]; !math.IsNaN(v) {
			all[name] = v
		}
	}
	return all
}

// Sum returns the sum of all known values of a series.
func (h *Hour) Sum(name string) float64 {
	s := h.series[name]
	if s == nil {
		return 0
	}
	sum := 0.0
	for _, v := range s.values {
		if !math.IsNaN(v) {
			sum += v
		}
	}
	return sum
}

// Reading is a value, or null where nobody knows.
type Reading = *float64

// History is an hour as it is sent.
type History struct {
	StepS  int                  `json:"step_s" doc:"seconds from one value to the next"`
	Until  time.Time            `json:"until" doc:"the end of the newest step"`
	Series map[string][]Reading `json:"series" doc:"oldest first; null where nobody knows"`
}

// History returns the hour.
func (h *Hour) History() History {
	all := History{StepS: int(Step / time.Second), Until: endOf(h.newest), Series: map[string][]Reading{}}
	for name, s := range h.series {
		readings := make([]Reading, Steps)
		for i := range readings {
			v := s.values[(h.newest+1+int64(i))%int64(Steps)]
			if !math.IsNaN(v) {
				readings[i] = &v
			}
		}
		all.Series[name] = readings
	}
	return all
}

// Merge takes over what another one's hour knows and this one does not. Of the steps before
// whole, of which this one has seen a part at most, the other's word goes before its own. A
// step that has not ended here is left out.
func (h *Hour) Merge(other History, whole int64, now time.Time) error {
	if other.StepS != int(Step/time.Second) || other.Until.UnixNano()%int64(Step) != 0 {
		return fmt.Errorf("a history in steps of %d s until %s", other.StepS, other.Until)
	}
	if len(other.Series) > maxSeries {
		return errors.New("a history of too many series")
	}
	newest := stepOf(other.Until) - 1
	running := stepOf(now)
	if h.newest < min(newest, running-1) {
		h.put(min(newest, running-1), nil)
	}
	oldest := max(1, h.newest-int64(Steps)+1)
	for name, readings := range other.Series {
		for i, v := range readings {
			step := newest - int64(len(readings)-1-i)
			if v == nil || step < oldest || step > h.newest {
				continue
			}
			if s := h.series[name]; step < whole || s == nil || math.IsNaN(s.values[step%int64(Steps)]) {
				h.set(name, step, *v)
			}
		}
	}
	return nil
}
