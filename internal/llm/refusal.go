package llm

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxRefusal    = 64 << 10
	maxRetryAfter = 24 * time.Hour
)

// refusal turns a response that is not 200 into an error, and its body into EOF or a closed connection.
func (d *doer) refusal(resp *http.Response, w *watch) *Error {
	defer w.drain().Stop()
	// What can be read of the body will do: the status is the error.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	_ = resp.Body.Close()
	fail := &Error{
		Kind:       kindOf(resp.StatusCode),
		Status:     resp.StatusCode,
		RetryAfter: retryAfter(resp.Header, time.Now()),
		RequestID:  requestID(resp.Header),
	}
	var f fault
	if json.Unmarshal(body, &f) == nil {
		fail.Code, _ = f.code()
	}
	if fail.Kind == Rejected && isFilterCode(fail.Code) {
		fail.Kind = Filtered
	}
	return fail
}

func kindOf(status int) Kind {
	switch {
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status >= 500 || status == http.StatusRequestTimeout:
		return Unavailable
	case status < 300:
		return Malformed
	}
	return Rejected
}

// isFilterCode knows the codes of a refused prompt: OpenAI and Azure, DashScope, Zhipu.
func isFilterCode(code string) bool {
	switch code {
	case "content_filter", "content_policy_violation", "data_inspection_failed", "DataInspectionFailed", "1301":
		return true
	}
	return false
}

// retryAfter reads every retry-after-ms, and every Retry-After as seconds or as a date. The latest wins: vendors and the
// proxies before them may each have their own idea, and who comes too early is refused again.
func retryAfter(h http.Header, now time.Time) time.Duration {
	var latest time.Duration
	for _, value := range h.Values("Retry-After-Ms") {
		if ms, err := strconv.ParseFloat(value, 64); err == nil {
			latest = max(latest, boundedWait(ms, time.Millisecond))
		}
	}
	for _, value := range h.Values("Retry-After") {
		if s, err := strconv.ParseFloat(value, 64); err == nil {
			latest = max(latest, boundedWait(s, time.Second))
		} else if at, err := http.ParseTime(value); err == nil {
			latest = max(latest, boundedWait(at.Sub(now).Seconds(), time.Second))
		}
	}
	return latest
}

func boundedWait(n float64, unit time.Duration) time.Duration {
	if math.IsNaN(n) || n <= 0 {
		return 0
	}
	if n > float64(maxRetryAfter/unit) {
		return maxRetryAfter
	}
	return time.Duration(n * float64(unit))
}

func requestID(h http.Header) string {
	if id := word(h.Get("X-Request-Id")); id != "" {
		return id
	}
	return word(h.Get("Request-Id"))
}

// word lets an identifier through and nothing that could be prose.
func word(s string) string {
	if len(s) > 80 {
		return ""
	}
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("._-:", r) {
			return ""
		}
	}
	return s
}

// fault is an error in any of the shapes that vendors put into a body or into an event of a stream.
type fault struct {
	Error   json.RawMessage `json:"error"`   // an object, or a flat string
	Code    json.RawMessage `json:"code"`    // flat, as DashScope and older vLLM do
	Message json.RawMessage `json:"message"` // flat; only whether it is there
}

// code returns the vendor's code, "" if it has none, and whether there is a fault at all.
func (f *fault) code() (string, bool) {
	if !isNull(f.Error) {
		var nested struct {
			Code json.RawMessage `json:"code"`
			Type json.RawMessage `json:"type"`
		}
		if json.Unmarshal(f.Error, &nested) != nil {
			return "", true
		}
		if code := scalar(nested.Code); code != "" {
			return code, true
		}
		return scalar(nested.Type), true
	}
	return scalar(f.Code), !isNull(f.Code) || !isNull(f.Message)
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || bytes.Equal(raw, []byte("null")) || bytes.Equal(raw, []byte(`""`))
}

func scalar(raw json.RawMessage) string {
	if isNull(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return word(s)
	}
	return word(string(raw))
}
