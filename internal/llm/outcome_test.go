package llm

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestOutcomeAndRetryOfEachFailure(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		err     error
		outcome Outcome
		retry   Retry
	}{
		{"an answer", nil, Good, RetryNowhere},
		{"5xx", &Error{Kind: Unavailable, Status: 502}, Failed, RetryAnywhere},
		{"5xx that asks for a pause", &Error{Kind: Unavailable, Status: 503, RetryAfter: time.Second}, Failed, RetryElsewhere},
		{"connection refused or lost", &Error{Kind: Unavailable}, Failed, RetryAnywhere},
		{"no connection in time", &Error{Kind: Timeout, Phase: PhaseConnect}, Failed, RetryElsewhere},
		{"no token in time", &Error{Kind: Timeout, Phase: PhaseFirstToken}, Failed, RetryElsewhere},
		{"silence", &Error{Kind: Timeout, Phase: PhaseGap}, Failed, RetryElsewhere},
		{"no end in time", &Error{Kind: Timeout, Phase: PhaseStream}, Failed, RetryElsewhere},
		{"no whole answer in time", &Error{Kind: Timeout, Phase: PhaseCall}, Failed, RetryElsewhere},
		{"broken off", &Error{Kind: Truncated}, Failed, RetryAnywhere},
		{"nothing said", &Error{Kind: Empty}, Failed, RetryAnywhere},
		{"nothing said within our token limit", &Error{Kind: Empty, Code: codeLength}, Ignored, RetryElsewhere},
		{"HTML", &Error{Kind: Malformed, Err: errNotStream}, Failed, RetryElsewhere},
		{"error inside the stream", &Error{Kind: Malformed, Code: "server_error", Err: errInStream}, Failed, RetryAnywhere},
		{"throttled inside the stream", &Error{Kind: Malformed, Code: "Throttling.RateQuota", Err: errInStream}, Throttled, RetryElsewhere},
		{"429", &Error{Kind: RateLimited, Status: 429}, Throttled, RetryElsewhere},
		{"400", &Error{Kind: Rejected, Status: 400}, Ignored, RetryNowhere},
		{"a key that does not hold", &Error{Kind: Rejected, Status: 401}, Failed, RetryElsewhere},
		{"a model that is not there", &Error{Kind: Rejected, Status: 404}, Failed, RetryElsewhere},
		{"filtered", &Error{Kind: Filtered}, Ignored, RetryNowhere},
		{"pool exhausted", &Error{Kind: PoolExhausted}, Ignored, RetryElsewhere},
		{"cancelled", context.Canceled, Ignored, RetryNowhere},
		{"caller's deadline", context.DeadlineExceeded, Ignored, RetryNowhere},
		{"streaming function", ErrStreamingFunc, Ignored, RetryNowhere},
		{"something else", errors.New("else"), Ignored, RetryNowhere},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := OutcomeOf(tc.err); got != tc.outcome {
				t.Errorf("outcome = %s, want %s", got, tc.outcome)
			}
			if got := RetryOf(tc.err); got != tc.retry {
				t.Errorf("retry = %s, want %s", got, tc.retry)
			}
			if tc.err == nil {
				return
			}
			wrapped := fmt.Errorf("ask the model: %w", tc.err)
			if OutcomeOf(wrapped) != tc.outcome || RetryOf(wrapped) != tc.retry {
				t.Error("wrapped, it counts otherwise")
			}
		})
	}
}
