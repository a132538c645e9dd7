package sim

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Vendor is one simulated vendor. It does nothing by itself: it serves through Handler
// and is steered through Control or its methods. It is safe for concurrent use.
type Vendor struct {
	cfg   Config
	book  *book
	meter meter
	log   record
	seq   atomic.Uint64

	mu        sync.Mutex // guards behaviour and rng
	behaviour Behaviour
	rng       *rand.Rand
}

// NewVendor returns a vendor that behaves as cfg says, or an error that names the wrong
// field. It does no I/O.
func NewVendor(cfg Config) (*Vendor, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b, err := loadBook()
	if err != nil {
		return nil, fmt.Errorf("load phrases: %w", err)
	}
	v := &Vendor{cfg: cfg, book: b}
	v.Reset()
	return v, nil
}

// Name returns the vendor's name.
func (v *Vendor) Name() string { return v.cfg.Name }

// Handler serves the OpenAI protocol below /v1. Its handlers end when the client leaves.
func (v *Vendor) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", v.metered(v.chat))
	mux.HandleFunc("POST /v1/embeddings", v.metered(v.embeddings))
	mux.HandleFunc("GET /v1/models", v.models)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "not_found", "unknown URL "+r.Method+" "+clip(r.URL.Path, 100))
	})
	return mux
}

// Stats returns the counts of this moment, all of the same moment.
func (v *Vendor) Stats() Stats {
	s := v.meter.read()
	s.Vendor, s.Quota = v.cfg.Name, v.cfg.Quota
	return s
}

// Behaviour returns how the vendor behaves now, with all defaults filled in.
func (v *Vendor) Behaviour() Behaviour {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.behaviour
}

// SetBehaviour replaces the behaviour for calls that arrive from now on; calls in flight
// keep theirs. It returns a *FieldError, and changes nothing, when b is not valid.
func (v *Vendor) SetBehaviour(b Behaviour) error {
	return v.change(func(Behaviour) (Behaviour, error) { return b, nil })
}

// change sets the behaviour that next makes of the present one, as one step.
func (v *Vendor) change(next func(Behaviour) (Behaviour, error)) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	b, err := next(v.behaviour)
	if err != nil {
		return err
	}
	if err := b.Validate(); err != nil {
		return err
	}
	v.behaviour = b.filled()
	return nil
}

// Reset brings back the configured behaviour and seed, empties the statistics and forgets
// the prompts. Calls in flight go on and stay counted.
func (v *Vendor) Reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	name := fnv.New64a()
	_, _ = name.Write([]byte(v.cfg.Name)) // a hash never fails
	v.behaviour = v.cfg.Behaviour.filled()
	v.rng = rand.New(rand.NewPCG(v.cfg.Seed, name.Sum64()))
	v.meter.reset()
	v.log.reset()
}

// Prompts returns the newest requests in the order of their arrival, at most 4096
// and 64 MiB of them; none unless Config.Record is set. The caller must not change the
// messages.
func (v *Vendor) Prompts() []Prompt { return v.log.read() }

// fault is what befalls one call.
type fault int

const (
	faultNone fault = iota
	faultRefuse
	faultHang
	faultError
	faultStall
	faultTruncate
	faultStreamError
	faultGarbage
)

// plan is everything that chance decides about one call, except for single gaps.
type plan struct {
	behaviour Behaviour
	fault     fault
	first     time.Duration
	total     time.Duration
}

func (v *Vendor) plan() plan {
	v.mu.Lock()
	defer v.mu.Unlock()
	b := v.behaviour
	p := plan{behaviour: b}
	at := v.rng.Float64()
	for _, share := range []struct {
		fault fault
		share float64
	}{
		{faultRefuse, b.RefuseShare}, {faultHang, b.HangShare}, {faultError, b.ErrorShare},
		{faultStall, b.StallShare}, {faultTruncate, b.TruncateShare},
		{faultStreamError, b.StreamErrorShare}, {faultGarbage, b.GarbageShare},
	} {
		if at < share.share {
			p.fault = share.fault
			break
		}
		at -= share.share
	}
	p.first = slowed(b.FirstToken.draw(v.rng), b.Slow)
	p.total = max(p.first, slowed(b.Call.draw(v.rng), b.Slow))
	return p
}

// offsets returns when each of n chunks is due after the call's arrival.
func (v *Vendor) offsets(p plan, n int) []time.Duration {
	out := make([]time.Duration, n)
	if p.behaviour.Gap.Kind == "" {
		for i := range out {
			out[i] = p.total
			if n > 1 {
				out[i] = p.first + (p.total-p.first)*time.Duration(i)/time.Duration(n-1)
			}
		}
		return out
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	at := p.first
	for i := range out {
		out[i] = at
		at += slowed(p.behaviour.Gap.draw(v.rng), p.behaviour.Slow)
	}
	return out
}

func slowed(d time.Duration, factor float64) time.Duration {
	return time.Duration(float64(d) * factor)
}
