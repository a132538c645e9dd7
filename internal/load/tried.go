package load

import (
	"errors"
	"sync"
	"time"

	"sluice/internal/llm"
)

// sampled is one call.
type sampled struct {
	took, first time.Duration
	tokens      int
	err         error
}

// tried is the calls of a step. It is safe for concurrent use.
type tried struct {
	mu              sync.Mutex
	took, first     []int64
	sum             time.Duration
	refused, failed int
	tokens          int
	retryAfter      time.Duration
	rejected        error
}

// stop reports whether more calls would only be refused.
func (t *tried) stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused > 0 || t.rejected != nil
}

func (t *tried) add(s sampled) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens += s.tokens
	var fail *llm.Error
	switch {
	case s.err == nil || errors.As(s.err, &fail) && fail.Kind == llm.Empty:
		// A model that thinks first may have no word left: it has answered all the same.
		t.took = append(t.took, s.took.Milliseconds())
		t.first = append(t.first, s.first.Milliseconds())
		t.sum += s.took
	case fail != nil && fail.Outcome() == llm.Throttled:
		t.refused++
		t.retryAfter = max(t.retryAfter, fail.RetryAfter)
	case fail != nil && fail.Kind == llm.Rejected:
		t.rejected = fail
	default:
		t.failed++
	}
}

// step sums up, after the last call.
func (t *tried) step(n int) Step {
	s := Step{
		AtOnce: n, Completed: len(t.took), Refused: t.refused, Failed: t.failed, Tokens: t.tokens,
		Took: spreadOf(t.took), First: spreadOf(t.first),
	}
	if s.Completed > 0 && t.sum > 0 {
		mean := t.sum.Seconds() / float64(s.Completed)
		s.MeanMS, s.PerSecond = 1000*mean, float64(n)/mean
	}
	return s
}
