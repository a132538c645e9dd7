package sim

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// bodyTimeout ends a call whose body does not arrive.
const bodyTimeout = 30 * time.Second

// call is one metered request on its way. It belongs to its handler's goroutine.
type call struct {
	id        string
	w         http.ResponseWriter
	r         *http.Request // its context ends when the client leaves
	control   *http.ResponseController
	arrivedAt time.Time
	pass      *passage
	plan      plan
	body      []byte
}

// metered counts a call from its head to its end, applies key, quota and the faults that
// need no answer, and hands on what is left with its body read.
func (v *Vendor) metered(serve func(*call)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{
			id:        fmt.Sprintf("%s-%08d", v.cfg.Name, v.seq.Add(1)),
			w:         w,
			control:   http.NewResponseController(w),
			r:         r,
			arrivedAt: time.Now(),
			pass:      v.meter.enter(),
			plan:      v.plan(),
		}
		// Whoever has not left by then has lost the client.
		defer c.pass.leave(cancelled, Usage{})
		w.Header().Set("X-Request-Id", c.id)
		switch {
		case c.plan.fault == faultRefuse:
			c.pass.leave(dropped, Usage{})
			reset(w)
		case !v.authorised(r):
			c.fail(invalid, http.StatusUnauthorized, "invalid_api_key", "the API key is wrong")
		case !c.pass.admit(v.cfg.Quota):
			c.fail(refused, http.StatusTooManyRequests, "rate_limit_exceeded",
				fmt.Sprintf("more than the contracted %d calls at once", v.cfg.Quota))
		case c.readBody():
			v.befall(c, serve)
		}
	}
}

// befall serves the call, unless it was drawn to hang or to fail as a whole.
func (v *Vendor) befall(c *call, serve func(*call)) {
	switch c.plan.fault {
	case faultHang:
		<-c.r.Context().Done()
	case faultError:
		if c.until(c.plan.first) {
			status := c.plan.behaviour.ErrorStatus
			c.fail(failed, status, errorCode(status), "simulated failure")
		}
	default:
		serve(c)
	}
}

// readBody reports whether the body is there. It reads to the end even for a call that
// will hang: only then does the server notice that the client leaves.
func (c *call) readBody() bool {
	// Not every connection knows deadlines; without one the client's patience rules.
	_ = c.control.SetReadDeadline(c.arrivedAt.Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		c.fail(invalid, http.StatusRequestEntityTooLarge, "request_too_large",
			fmt.Sprintf("the body is longer than %d bytes", maxBody))
		return false
	}
	if err != nil {
		return false
	}
	_ = c.control.SetReadDeadline(time.Time{})
	c.body = body
	return true
}

// until waits for the instant that is offset after the call's arrival and reports whether
// the client is still there.
func (c *call) until(offset time.Duration) bool {
	wait := time.Until(c.arrivedAt.Add(offset))
	if wait <= 0 {
		return c.r.Context().Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return c.r.Context().Err() == nil
	case <-c.r.Context().Done():
		return false
	}
}

// fail ends the call with an error answer.
func (c *call) fail(o outcome, status int, code, message string) {
	c.pass.leave(o, Usage{})
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		c.w.Header().Set("Retry-After", strconv.Itoa(c.plan.behaviour.retryAfterSeconds()))
	}
	writeError(c.w, status, code, message)
}

// finish ends the call with a whole answer in JSON.
func (c *call) finish(o outcome, u Usage, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		c.fail(failed, http.StatusInternalServerError, "server_error", "the answer could not be written")
		return
	}
	c.pass.leave(o, u)
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if o == truncated {
		body = body[:len(body)/2] // shorter than announced: the server closes the connection
	}
	_, _ = c.w.Write(body) // the call has ended; a client that left now is its own loss
}

func (v *Vendor) authorised(r *http.Request) bool {
	if v.cfg.Key == "" {
		return true
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(token), []byte(v.cfg.Key)) == 1
}

// reset closes the connection without a word, as a crashed server's machine does.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		writeError(w, http.StatusServiceUnavailable, "server_error", "connection refused")
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // RST in place of an orderly end
	}
	_ = conn.Close()
}

type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    string `json:"code"`
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	kind := "server_error"
	if status < http.StatusInternalServerError {
		kind = "invalid_request_error"
	}
	if status == http.StatusTooManyRequests {
		kind = "rate_limit_error"
	}
	writeJSON(w, status, errorBody{errorDetail{Message: message, Type: kind, Code: code}})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have left
}

func errorCode(status int) string {
	switch status {
	case http.StatusTooManyRequests:
		return "rate_limit_exceeded"
	case http.StatusServiceUnavailable:
		return "overloaded"
	default:
		return "server_error"
	}
}
