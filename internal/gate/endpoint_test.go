package gate

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/llm"
	"sluice/internal/sim"
)

// counted is an endpoint that counts its calls.
type counted struct {
	mu     sync.Mutex
	calls  int
	answer vendor
}

func (c *counted) GenerateContent(ctx context.Context, _ []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	c.mu.Lock()
	c.calls++
	c.mu.Unlock()
	return c.answer(ctx)
}

func (c *counted) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, c, prompt, options...)
}

// held is a vendor whose calls last until its context ends.
func held(ctx context.Context) (*llms.ContentResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// vendorsFault tells failures as the real fleet does.
func vendorsFault(err error) bool { return llm.OutcomeOf(err) == llm.Failed }

func newSpread(t *testing.T, endpoints ...Endpoint) *Spread {
	t.Helper()
	s, err := NewSpread(endpoints, vendorsFault)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inFlight returns the calls in flight by endpoint, those that are leaving with a mark.
func inFlight(s *Spread) string {
	var out strings.Builder
	for _, l := range s.Loads() {
		fmt.Fprintf(&out, "%s %d", l.Endpoint, l.InFlight)
		if l.Leaving {
			out.WriteString(" leaving")
		}
		out.WriteString("; ")
	}
	return out.String()
}

// start makes n calls that last until stop is called.
func start(ctx context.Context, s *Spread, n int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() { _, _ = s.GenerateContent(ctx, nil) })
	}
	return func() {
		cancel()
		calls.Wait()
	}
}

func TestTheEndpointWithTheFewestCallsForItsWeightIsCalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSpread(t, Endpoint{Name: "x", Model: vendor(held), Weight: 3}, Endpoint{Name: "y", Model: vendor(held)})
		stop := start(t.Context(), s, 40)
		synctest.Wait()
		if got := inFlight(s); got != "x 30; y 10; " {
			t.Errorf("in flight: %s", got)
		}
		stop()
		if got := inFlight(s); got != "x 0; y 0; " {
			t.Errorf("at rest: %s", got)
		}
	})
}

func TestCallsOneByOneAreDrawnByWeight(t *testing.T) {
	t.Parallel()
	x, y := &counted{answer: good}, &counted{answer: good}
	s := newSpread(t, Endpoint{Name: "x", Model: x, Weight: 3}, Endpoint{Name: "y", Model: y})
	for range 2000 {
		if _, err := s.Call(t.Context(), "hello"); err != nil {
			t.Fatal(err)
		}
	}
	if x.calls < 1400 || x.calls > 1600 { // five deviations around 1,500
		t.Errorf("%d and %d calls for weights of 3 and 1", x.calls, y.calls)
	}
}

func TestACallThatIsMeantForAnEndpointGoesThere(t *testing.T) {
	t.Parallel()
	x, y := &counted{answer: good}, &counted{answer: good}
	s := newSpread(t, Endpoint{Name: "x", Model: x}, Endpoint{Name: "y", Model: y})
	for range 50 {
		_, _ = s.GenerateContent(ToEndpoint(t.Context(), "y"), nil)
	}
	if x.calls != 0 || y.calls != 50 {
		t.Errorf("%d and %d calls", x.calls, y.calls)
	}
	if err := s.SetEndpoints([]Endpoint{{Name: "x", Model: x}}); err != nil {
		t.Fatal(err)
	}
	_, _ = s.GenerateContent(ToEndpoint(t.Context(), "y"), nil)
	if x.calls != 1 {
		t.Error("the endpoint has gone, and so did the call")
	}
}

// field is endpoints of one vendor as real simulators in the bubble that the test runs in.
type field struct {
	t       *testing.T
	spread  *Spread
	vendors []*sim.Vendor
}

// steady is an endpoint whose calls take a second; broken fails each in 2 ms.
var (
	steady = sim.Behaviour{FirstToken: sim.Fixed(200 * time.Millisecond), Call: sim.Fixed(time.Second)}
	broken = sim.Behaviour{FirstToken: sim.Fixed(2 * time.Millisecond), ErrorShare: 1}
)

func newField(t *testing.T, behaviours ...sim.Behaviour) *field {
	t.Helper()
	f := &field{t: t}
	var endpoints []Endpoint
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	var clients []*llm.Client
	for i, b := range behaviours {
		v, err := sim.NewVendor(sim.Config{Name: fmt.Sprint("e", i), Behaviour: b, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		door := sim.NewPipeListener()
		serving.Go(func() { _ = sim.Serve(ctx, v, door, nil) })
		client, err := llm.New(llm.Config{Vendor: "a", BaseURL: "http://" + v.Name() + "/v1", Model: "m", Dial: door.Dial})
		if err != nil {
			t.Fatal(err)
		}
		f.vendors, clients = append(f.vendors, v), append(clients, client)
		endpoints = append(endpoints, Endpoint{Name: v.Name(), Model: client})
	}
	f.spread = newSpread(t, endpoints...)
	t.Cleanup(func() {
		for _, c := range clients {
			c.Close()
		}
		stop()
		serving.Wait()
	})
	return f
}

// under lets callers call one after the other for a while, and returns the share of the
// calls that each endpoint got.
func (f *field) under(callers int, span time.Duration) []float64 {
	for _, v := range f.vendors {
		b := v.Behaviour()
		v.Reset()
		_ = v.SetBehaviour(b) // it was valid before
	}
	end := time.Now().Add(span)
	var load sync.WaitGroup
	for range callers {
		load.Go(func() {
			for time.Now().Before(end) {
				_, _ = f.spread.GenerateContent(f.t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hello")})
			}
		})
	}
	load.Wait()
	sum := 0
	for _, v := range f.vendors {
		sum += v.Stats().Calls
	}
	shares := make([]float64, len(f.vendors))
	for i, v := range f.vendors {
		shares[i] = float64(v.Stats().Calls) / float64(sum)
	}
	return shares
}

// higress-group/higress#3255: the node that fails in 2 ms has the fewest calls in flight
// and attracts all of them.
func TestAnEndpointThatFailsFastDoesNotAttractCalls(t *testing.T) {
	t.Parallel()
	for _, callers := range []int{1, 12, 30} {
		t.Run(fmt.Sprint(callers), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newField(t, steady, broken, steady)
				shares := f.under(callers, 40*time.Second)
				t.Logf("shares %.4f", shares)
				if shares[1] > 0.15 {
					t.Errorf("%.3f of the calls went to the endpoint that fails each, a fair share were 0.333", shares[1])
				}
				if err := f.vendors[1].SetBehaviour(steady); err != nil {
					t.Fatal(err)
				}
				time.Sleep(25 * time.Second) // as many good calls long as its debt is remembered at the most
				shares = f.under(callers, 40*time.Second)
				t.Logf("shares once it is well again %.3f", shares)
				if callers > 1 && shares[1] < 0.3 || shares[1] < 0.05 {
					t.Errorf("%.3f of the calls went to the endpoint that is well again", shares[1])
				}
			})
		})
	}
}

func TestAnEndpointThatFailsAtTimesGetsLessThanItsShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		half := steady
		half.FirstToken, half.ErrorShare = sim.Fixed(2*time.Millisecond), 0.5
		rare := steady
		rare.ErrorShare = 0.01
		f := newField(t, steady, half, rare)
		shares := f.under(12, 40*time.Second)
		t.Logf("shares %.3f", shares)
		if shares[1] > 0.3 || shares[1] < 0.05 {
			t.Errorf("%.3f of the calls went to the endpoint that fails every second one", shares[1])
		}
		if shares[2] < 0.3 {
			t.Errorf("%.3f of the calls went to the endpoint that fails one in a hundred", shares[2])
		}
	})
}

func TestWhereAllEndpointsFailNoneIsLeftOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slower := broken // or there would be thousands of calls
		slower.FirstToken = sim.Fixed(20 * time.Millisecond)
		f := newField(t, slower, slower)
		shares := f.under(8, time.Second)
		if shares[0] < 0.45 || shares[0] > 0.55 {
			t.Errorf("shares %.3f", shares)
		}
	})
}

func TestWhatIsNotTheEndpointsFaultIsNotHeldAgainstIt(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"429":            &llm.Error{Kind: llm.RateLimited, Status: 429},
		"400":            &llm.Error{Kind: llm.Rejected, Status: 400},
		"pool exhausted": &llm.Error{Kind: llm.PoolExhausted},
		"cancelled":      context.Canceled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &counted{answer: func(context.Context) (*llms.ContentResponse, error) { return nil, err }}
			y := &counted{answer: good}
			s := newSpread(t, Endpoint{Name: "x", Model: x}, Endpoint{Name: "y", Model: y})
			for range 200 {
				_, _ = s.GenerateContent(t.Context(), nil)
			}
			if x.calls < 60 { // of 100, more than five deviations
				t.Errorf("%d of 200 calls", x.calls)
			}
		})
	}
}

func TestADrainedEndpointLetsItsCallsEndAndKeepsItsCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x, y := Endpoint{Name: "x", Model: vendor(held)}, Endpoint{Name: "y", Model: vendor(held)}
		s := newSpread(t, x, y)
		set := func(endpoints ...Endpoint) {
			t.Helper()
			if err := s.SetEndpoints(endpoints); err != nil {
				t.Fatal(err)
			}
		}
		want := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := inFlight(s); got != want {
				t.Fatalf("in flight: %swant %s", got, want)
			}
		}
		stopFirst := start(t.Context(), s, 10)
		want("x 5; y 5; ")
		set(y)
		stopSecond := start(t.Context(), s, 6)
		want("y 11; x 5 leaving; ")
		set(y, x)
		want("y 11; x 5; ")
		stopThird := start(t.Context(), s, 8) // x has some to make up for
		want("y 12; x 12; ")
		set(x)
		stopFirst()
		want("x 7; y 7 leaving; ")
		stopSecond()
		stopThird()
		want("x 0; ")
		set(y, x)
		want("y 0; x 0; ")
	})
}

func TestARunningCallEndsWhereItBeganAndTheNextTakesTheNewModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old, fresh := &counted{answer: held}, &counted{answer: held}
		s := newSpread(t, Endpoint{Name: "x", Model: old})
		stop := start(t.Context(), s, 2)
		synctest.Wait()
		if err := s.SetEndpoints([]Endpoint{{Name: "x", Model: fresh, Weight: 5}}); err != nil {
			t.Fatal(err)
		}
		stopNext := start(t.Context(), s, 1)
		synctest.Wait()
		if got := inFlight(s); got != "x 3; " || old.calls != 2 || fresh.calls != 1 {
			t.Errorf("in flight: %s%d calls by the old model, %d by the new", got, old.calls, fresh.calls)
		}
		stop()
		stopNext()
	})
}

func TestAPanicGivesTheCountBack(t *testing.T) {
	t.Parallel()
	s := newSpread(t, Endpoint{Name: "x", Model: vendor(func(context.Context) (*llms.ContentResponse, error) { panic("vendor code fails") })})
	func() {
		defer func() { _ = recover() }()
		_, _ = s.GenerateContent(t.Context(), nil)
	}()
	if got := inFlight(s); got != "x 0; " {
		t.Errorf("in flight: %s", got)
	}
}

func TestEndpointsThatCannotBeAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	x := Endpoint{Name: "x", Model: vendor(good)}
	s := newSpread(t, x)
	for name, endpoints := range map[string][]Endpoint{
		"none":            nil,
		"no name":         {{Model: vendor(good)}},
		"no model":        {{Name: "y"}},
		"one name twice":  {x, x},
		"negative weight": {{Name: "y", Model: vendor(good), Weight: -1}},
	} {
		if s.SetEndpoints(endpoints) == nil || inFlight(s) != "x 0; " {
			t.Errorf("%s: accepted, endpoints are %s", name, inFlight(s))
		}
		if _, err := NewSpread(endpoints, vendorsFault); err == nil {
			t.Errorf("%s: a new one accepts it", name)
		}
	}
	if _, err := NewSpread([]Endpoint{x}, nil); err == nil {
		t.Error("accepted without anything that tells a failure")
	}
}
