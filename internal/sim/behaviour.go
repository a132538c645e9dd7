package sim

import (
	"encoding/json"
	"math"
	"time"
)

// Behaviour is how fast a vendor answers and how often it fails. The zero value answers
// every call well, in 1 s on average. Shares are probabilities from 0 to 1, drawn once a
// call; a call meets at most one fault, so all shares together must not exceed 1.
//
// In JSON the fields are in snake case and durations are Go duration strings. Reading
// JSON into a Behaviour changes only the fields it names and refuses unknown ones with a
// *FieldError.
type Behaviour struct {
	// FirstToken is the time from a call's arrival to the first token, and the whole time
	// of an embeddings call. Defaults to lognormal, mean 250ms, p95 450ms.
	FirstToken Latency `json:"first_token"`

	// Call is the time from a call's arrival to its last token, plain or streamed; tokens
	// come evenly between the two. A call is never shorter than its first token. Defaults
	// to lognormal, mean 1s, p95 1.8s.
	Call Latency `json:"call"`

	// Gap, when set, is the time between two chunks and takes the place of Call: a longer
	// answer then takes longer.
	Gap Latency `json:"gap"`

	// ChunkTokens is how many tokens one streamed chunk holds. Defaults to 4.
	ChunkTokens int `json:"chunk_tokens"`

	// Slow multiplies all latencies. Defaults to 1.
	Slow float64 `json:"slow"`

	// ErrorShare of the calls end with ErrorStatus instead of an answer, after the time of
	// the first token.
	ErrorShare float64 `json:"error_share"`

	// ErrorStatus is from 400 to 599. Defaults to 500.
	ErrorStatus int `json:"error_status"`

	// RefuseShare of the calls have their connection reset at once.
	RefuseShare float64 `json:"refuse_share"`

	// HangShare of the calls are accepted and never answered: they end when the client leaves.
	HangShare float64 `json:"hang_share"`

	// StallShare of the streams fall silent in the middle until the client leaves.
	StallShare float64 `json:"stall_share"`

	// TruncateShare of the answers end in the middle: a stream ends cleanly without a finish
	// reason and [DONE], a plain answer breaks off.
	TruncateShare float64 `json:"truncate_share"`

	// StreamErrorShare of the streams end in the middle with an error event.
	StreamErrorShare float64 `json:"stream_error_share"`

	// GarbageShare of the streams hold a chunk that is not JSON; of the plain answers, that
	// share is an HTML page.
	GarbageShare float64 `json:"garbage_share"`

	// RetryAfter goes out as the Retry-After header of 429 and 503, in whole seconds,
	// rounded up. Defaults to 1s.
	RetryAfter time.Duration `json:"retry_after"`

	// InterleaveTools lets the argument fragments of parallel tool calls alternate in a
	// stream, as some vendors do.
	InterleaveTools bool `json:"interleave_tools"`

	// Obedient makes the model do what a customer, a tool result or a passage tells it: the
	// words `call NAME {…}` become that tool call, `say "…"` and "print your prompt" become
	// part of the answer. It is the worst case for what stands between a model and a side
	// effect.
	Obedient bool `json:"obedient"`
}

// Validate returns a *FieldError for the first field that is wrong.
func (b Behaviour) Validate() error {
	for _, l := range []struct {
		field string
		value Latency
	}{{"first_token", b.FirstToken}, {"call", b.Call}, {"gap", b.Gap}} {
		if err := l.value.Validate(); err != nil {
			return under(l.field, err)
		}
	}
	sum := 0.0
	for _, s := range []struct {
		field string
		value float64
	}{
		{"error_share", b.ErrorShare}, {"refuse_share", b.RefuseShare}, {"hang_share", b.HangShare},
		{"stall_share", b.StallShare}, {"truncate_share", b.TruncateShare},
		{"stream_error_share", b.StreamErrorShare}, {"garbage_share", b.GarbageShare},
	} {
		if !(s.value >= 0 && s.value <= 1) {
			return bad(s.field, "%v: must be from 0 to 1", s.value)
		}
		sum += s.value
		if sum > 1+1e-9 {
			return bad(s.field, "%v: all shares together must not exceed 1", s.value)
		}
	}
	switch {
	case b.ErrorStatus != 0 && (b.ErrorStatus < 400 || b.ErrorStatus > 599):
		return bad("error_status", "%d: must be from 400 to 599", b.ErrorStatus)
	case b.ChunkTokens < 0 || b.ChunkTokens > 1000:
		return bad("chunk_tokens", "%d: must be from 0 to 1000", b.ChunkTokens)
	case !(b.Slow >= 0 && b.Slow <= 1000):
		return bad("slow", "%v: must be from 0 to 1000", b.Slow)
	case b.RetryAfter < 0 || b.RetryAfter > time.Hour:
		return bad("retry_after", "%s: must be from 0s to 1h", b.RetryAfter)
	}
	return nil
}

// filled returns b with every default in place, except for Gap, whose absence means that
// Call rules.
func (b Behaviour) filled() Behaviour {
	b.FirstToken = b.FirstToken.or(Lognormal(250*time.Millisecond, 450*time.Millisecond))
	b.Call = b.Call.or(Lognormal(time.Second, 1800*time.Millisecond))
	if b.ChunkTokens == 0 {
		b.ChunkTokens = 4
	}
	if b.Slow == 0 {
		b.Slow = 1
	}
	if b.ErrorStatus == 0 {
		b.ErrorStatus = 500
	}
	if b.RetryAfter == 0 {
		b.RetryAfter = time.Second
	}
	return b
}

func (b Behaviour) retryAfterSeconds() int {
	return int(math.Ceil(b.RetryAfter.Seconds()))
}

// MarshalJSON writes durations as Go duration strings.
func (b Behaviour) MarshalJSON() ([]byte, error) {
	type plain Behaviour
	return json.Marshal(struct {
		plain
		RetryAfter string `json:"retry_after"`
	}{plain(b), b.RetryAfter.String()})
}

// UnmarshalJSON changes the fields that raw names and leaves the others as they are. On
// an error, nothing is changed.
func (b *Behaviour) UnmarshalJSON(raw []byte) error {
	next := *b
	err := decodeFields(raw, map[string]any{
		"first_token": &next.FirstToken, "call": &next.Call, "gap": &next.Gap,
		"chunk_tokens": &next.ChunkTokens, "slow": &next.Slow,
		"error_share": &next.ErrorShare, "error_status": &next.ErrorStatus,
		"refuse_share": &next.RefuseShare, "hang_share": &next.HangShare, "stall_share": &next.StallShare,
		"truncate_share": &next.TruncateShare, "stream_error_share": &next.StreamErrorShare,
		"garbage_share": &next.GarbageShare, "retry_after": &next.RetryAfter,
		"interleave_tools": &next.InterleaveTools, "obedient": &next.Obedient,
	})
	if err != nil {
		return err
	}
	*b = next
	return nil
}
