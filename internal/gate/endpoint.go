package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// Endpoint is one of the addresses at which a vendor serves an account.
type Endpoint struct {
	Name   string // unique within the vendor, such as its URL; counts are kept by it
	Model  llms.Model
	Weight int // share of the calls; 0: 1
}

// Spread is a vendor's model over all of its endpoints: each call goes to the one that
// has the fewest in flight for its weight, ties at random. It stands behind the permit,
// so it neither limits nor retries. It is safe for concurrent use.
//
// An endpoint that fails at once would always have the fewest in flight and so attract
// everything. So a failed call goes on counting: as two calls, after the second failure
// in a row as four, and so on up to mostDebt. This debt fades in the time that a good
// call of the vendor lately took, after further failures in up to four times that. So
// an endpoint that fails gets less than its share however fast it does; one that is well
// again has it back as the debt fades; and where all of them fail, they do so evenly.
type Spread struct {
	failed func(error) bool

	mu    sync.Mutex // guards the rest
	live  []*door    // in the order given
	doors map[string]*door
	usual time.Duration // of a good call, its moving mean
}

// door is the counts of one endpoint. It stays, by name, until its last call has ended,
// whether or not it is taken out of the rules and put in again meanwhile.
type door struct {
	Endpoint
	leaving  bool // gets no new call
	inFlight int
	failures int           // in a row
	debt     float64       // calls that it counts as beyond those in flight, at owedAt
	owedAt   time.Time     // of the latest failure
	fading   time.Duration // in which the debt falls to about a third
}

const (
	firstUsual  = time.Second // before the first good call
	leastFading = 100 * time.Millisecond
	mostFading  = 30 * time.Second
	mostDebt    = 256
	leastDebt   = 0.5 // less is none, or a debt would break ties for ever
)

// NewSpread returns a model over endpoints, of which there must be at least one. failed
// reports whether a call that ended with an error was the endpoint's failure; one that
// was cancelled, throttled, or refused for what we sent is not.
func NewSpread(endpoints []Endpoint, failed func(error) bool) (*Spread, error) {
	if failed == nil {
		return nil, errors.New("endpoints: nothing tells a failure")
	}
	s := &Spread{failed: failed, doors: map[string]*door{}, usual: firstUsual}
	if err := s.SetEndpoints(endpoints); err != nil {
		return nil, err
	}
	return s, nil
}

// SetEndpoints replaces the endpoints. One that is left out gets no new call, and those
// that run there end in their own time; one that comes back has its counts again. On an
// error nothing is changed.
func (s *Spread) SetEndpoints(endpoints []Endpoint) error {
	if err := checkEndpoints(endpoints); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.doors {
		d.leaving = true
	}
	s.live = make([]*door, len(endpoints))
	for i, e := range endpoints {
		d, known := s.doors[e.Name]
		if !known {
			d = &door{}
			s.doors[e.Name] = d
		}
		e.Weight = max(1, e.Weight)
		d.Endpoint, d.leaving = e, false
		s.live[i] = d
	}
	for _, d := range s.doors {
		s.forget(d)
	}
	return nil
}

func checkEndpoints(endpoints []Endpoint) error {
	if len(endpoints) == 0 {
		return errors.New("endpoints: there is none")
	}
	for i, e := range endpoints {
		switch {
		case e.Name == "" || e.Model == nil:
			return fmt.Errorf("endpoints: number %d has no name or no model", i+1)
		case e.Weight < 0:
			return fmt.Errorf("endpoints: weight %d of %s is negative", e.Weight, e.Name)
		case slices.ContainsFunc(endpoints[:i], func(other Endpoint) bool { return other.Name == e.Name }):
			return fmt.Errorf("endpoints: two are named %s", e.Name)
		}
	}
	return nil
}

type endpointKey struct{}

// ToEndpoint returns a context under which a Spread calls the endpoint of that name, as
// long as it has one: for calls that are about the endpoint, such as a warm-up.
func ToEndpoint(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, endpointKey{}, name)
}

// GenerateContent calls one endpoint.
func (s *Spread) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var resp *llms.ContentResponse
	err := s.At(ctx, func(model llms.Model) (err error) {
		resp, err = model.GenerateContent(ctx, messages, options...)
		return err
	})
	return resp, err
}

// At makes one call, whatever it is, at the endpoint that a chat would go to now.
func (s *Spread) At(ctx context.Context, work func(endpoint llms.Model) error) error {
	name, _ := ctx.Value(endpointKey{}).(string)
	begunAt := time.Now()
	d, model := s.begin(name, begunAt)
	err := errUnended // a panic leaves it so
	defer func() {
		now := time.Now()
		s.end(d, err, now.Sub(begunAt), now)
	}()
	err = work(model)
	return err
}

var errUnended = errors.New("the call has not ended")

// Call asks with a single text.
func (s *Spread) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, options...)
}

// Load is how many calls an endpoint has in flight.
type Load struct {
	Endpoint string
	InFlight int
	Leaving  bool // it gets no new call
}

// Loads returns the load of each endpoint, and of those that are leaving and still have
// calls: the former in their order, the latter by name.
func (s *Spread) Loads() []Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Load, 0, len(s.doors))
	for _, d := range s.live {
		all = append(all, Load{Endpoint: d.Name, InFlight: d.inFlight})
	}
	for _, d := range s.doors {
		if d.leaving {
			all = append(all, Load{Endpoint: d.Name, InFlight: d.inFlight, Leaving: true})
		}
	}
	slices.SortStableFunc(all[len(s.live):], func(a, b Load) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
	return all
}

// begin counts a call in at the endpoint of that name, or else at the best. The model is
// what the endpoint has now; it may get another one while the call runs.
func (s *Spread) begin(name string, now time.Time) (*door, llms.Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, known := s.doors[name]
	if !known || d.leaving {
		d = s.best(now)
	}
	d.inFlight++
	return d, d.Model
}

// end counts a call out, with what it took and how it ended.
func (s *Spread) end(d *door, err error, took time.Duration, now time.Time) {
	failed := err != nil && s.failed(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	d.inFlight--
	switch {
	case err == nil:
		d.failures = 0
		s.usual += (took - s.usual) / 8
	case failed:
		d.failures++
		d.debt = min(d.owed(now)+math.Exp2(float64(d.failures)), mostDebt)
		d.fading = min(max(s.usual*time.Duration(min(d.failures, 4)), leastFading), mostFading)
		d.owedAt = now
	}
	s.forget(d)
}

// forget removes an endpoint that has left and has no calls.
func (s *Spread) forget(d *door) {
	if d.leaving && d.inFlight == 0 {
		delete(s.doors, d.Name)
	}
}

// best returns the endpoint with the least load for its weight. Of several it is drawn,
// by weight, so that even calls that come one by one go where they belong.
func (s *Spread) best(now time.Time) *door {
	var best *door
	least, weights := math.Inf(1), 0
	for _, d := range s.live {
		load := (float64(d.inFlight) + d.owed(now)) / float64(d.Weight)
		switch {
		case load < least:
			best, least, weights = d, load, d.Weight
		case load == least:
			if weights += d.Weight; rand.IntN(weights) < d.Weight {
				best = d
			}
		}
	}
	return best
}

// owed returns what is left of the debt.
func (d *door) owed(now time.Time) float64 {
	if d.debt == 0 {
		return 0
	}
	left := d.debt * math.Exp(-float64(now.Sub(d.owedAt))/float64(d.fading))
	if left < leastDebt {
		return 0
	}
	return left
}
