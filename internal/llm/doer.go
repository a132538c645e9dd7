package llm

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"strings"
)

// doer is what langchaingo sends its requests through. It never follows a redirect, since that would carry the key and
// the customer's words elsewhere, and never repeats a request that the vendor may have seen.
type doer struct {
	vendor    string
	key       string
	extra     map[string]json.RawMessage
	limits    Timeouts
	transport http.RoundTripper
}

func newDoer(cfg Config, limits Timeouts, transport http.RoundTripper) *doer {
	return &doer{
		vendor:    cfg.Vendor,
		key:       cfg.Key,
		extra:     maps.Clone(cfg.Extra),
		limits:    limits,
		transport: transport,
	}
}

// Do sends a request. The body of the response is complete and checked, or a stream that fails rather than lies. Every
// failure is recorded in the call as well as returned.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	k := callOf(req.Context())
	k.sent.Store(true)
	ctx, w := newWatch(req.Context(), d.limits, k)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { w.acquiring() },
		GotConn: func(httptrace.GotConnInfo) { w.connected() },
	})
	out, err := d.prepare(req.WithContext(ctx), k)
	if err != nil {
		w.stop()
		return nil, d.failed(k, &Error{Kind: Rejected, Err: err})
	}
	resp, err := d.transport.RoundTrip(out)
	if err != nil {
		defer w.stop()
		return nil, d.failed(k, w.blame(err))
	}
	if resp.StatusCode != http.StatusOK {
		defer w.stop()
		return nil, d.failed(k, d.refusal(resp, w))
	}
	if !k.streamed {
		defer w.stop()
		return d.whole(k, resp, w)
	}
	resp.Body = newStream(d, k, resp, w)
	return resp, nil
}

// prepare copies the request with our headers and extra fields.
func (d *doer) prepare(req *http.Request, k *call) (*http.Request, error) {
	req.Header = req.Header.Clone()
	req.Header.Set("Accept", "application/json")
	if k.streamed {
		req.Header.Set("Accept", "text/event-stream")
	}
	if d.key == "" {
		req.Header.Del("Authorization")
	}
	if len(d.extra)+len(k.extra) == 0 || k.check != nil { // those are fields of a chat
		return req, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, errors.New("read request body")
	}
	fields := maps.Clone(k.extra)
	if fields == nil {
		fields = make(map[string]json.RawMessage, len(d.extra))
	}
	for name, value := range d.extra {
		if _, ok := fields[name]; !ok {
			fields[name] = value
		}
	}
	patched, err := patch(body, fields)
	if err != nil {
		return nil, err
	}
	setBody(req, patched)
	return req, nil
}

// failed completes and records a failure.
func (d *doer) failed(k *call, err *Error) *Error {
	err.Vendor = d.vendor
	if d.key != "" && strings.Contains(err.Code+" "+err.RequestID, d.key) {
		err.Code, err.RequestID = "", ""
	}
	k.failed(err)
	return err
}

// blame says why the transport gave up: our own limits come first, since they end the call by cancelling it.
func (w *watch) blame(err error) *Error {
	var dial *dialError
	late := errors.As(err, &dial) && dial.late
	switch phase := w.phase(); {
	case phase == phaseAcquire:
		return &Error{Kind: PoolExhausted}
	case phase != "":
		return &Error{Kind: Timeout, Phase: phase}
	case late:
		return &Error{Kind: Timeout, Phase: PhaseConnect}
	case dial != nil:
		return &Error{Kind: Unavailable, Phase: PhaseConnect, Err: innocent(err)}
	}
	return &Error{Kind: Unavailable, Err: innocent(err)}
}
