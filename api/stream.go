package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/chat"
	"sluice/internal/pulse"
)

// Times of one operator's stream.
const (
	streamBeat  = 15 * time.Second // a comment keeps proxies from closing it; then the login is looked at, too
	streamWrite = 10 * time.Second // how long the reader may take for one event
	streamTrust = 25 * time.Second // how long a login holds that cannot be looked at
	streamAsk   = 3 * time.Second  // how long a look at the login may take
)

const mediaStream = "text/event-stream"

func (a *API) registerStream(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-stream", Method: http.MethodGet, Path: "stream", Summary: "How everything stands, live",
		Description: "Server-sent events. First `history`: the charts of the last hour, `{step_s, until, series: {name: [value or null, …]}}`. Then `point` " +
			"each 10 s: `{at, values: {name: value}}`; `state` at once and at most each second when it has changed: the body of the overview; `alerts` likewise: that of `GET alerts`; " +
			"`problem` in its place where it cannot be made now. A comment each 15 s. Counts in charts are of one step; `…_p50_ms` and `…_p95_ms` of " +
			"the last minute. At most 100 streams a node: else 503. It ends with the login or the token, and when the node stops.",
	}, nil, a.stream)
	ok := api.OpenAPI().Paths[adminPath+"stream"].Get.Responses["200"]
	ok.Description = "OK"
	ok.Content = map[string]*huma.MediaType{mediaStream: {Schema: &huma.Schema{Type: huma.TypeString}}}
}

func (a *API) stream(context.Context, *struct{}) (*huma.StreamResponse, error) {
	leave, err := a.streams.enter()
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer leave()
		c := humaecho.Unwrap(ctx)
		h := c.Response().Header()
		h.Set("Content-Type", mediaStream)
		h.Set("X-Accel-Buffering", "no")
		s := &sink{w: c.Response(), control: http.NewResponseController(c.Response()), told: map[string]uint64{}}
		c.Response().WriteHeader(http.StatusOK)
		a.follow(c.Request(), s)
	}}, nil
}

// follow writes to one stream until it ends. What its reader is too slow for is not kept:
// it gets the newest.
func (a *API) follow(r *http.Request, s *sink) {
	history := pulse.History{StepS: int(pulse.Step / time.Second), Until: time.Now().UTC().Truncate(pulse.Step), Series: map[string][]pulse.Reading{}}
	if a.deps.Board != nil {
		history = a.deps.Board.History()
	}
	if s.event("history", history) != nil {
		return
	}
	s.until = history.Until
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	sure := time.Now() // that the login holds
	for {
		changed, stepped, err := a.tell(s)
		if err != nil {
			return
		}
		select {
		case <-changed:
		case <-stepped:
		case <-beat.C:
			if s.write(": \n\n") != nil || !a.holds(r, &sure) {
				return
			}
		case <-a.stopping:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// tell writes everything that a stream has not told yet, and returns what is closed when
// there is more.
func (a *API) tell(s *sink) (changed, stepped <-chan struct{}, err error) {
	if a.deps.Board != nil {
		var points []pulse.Point
		points, stepped = a.deps.Board.After(s.until)
		for _, p := range points {
			if err := s.event("point", p); err != nil {
				return nil, nil, err
			}
			s.until = p.At
		}
	}
	all, changed := a.streams.since(s.told)
	for _, n := range all {
		if err := s.raw(n.event, n.body); err != nil {
			return nil, nil, err
		}
	}
	return changed, stepped, nil
}

// holds reports whether the login or token that opened a stream is still one. While that
// cannot be looked at it holds for a little while.
func (a *API) holds(r *http.Request, sure *time.Time) bool {
	ctx, cancel := context.WithTimeout(r.Context(), streamAsk)
	defer cancel()
	_, err := a.operator(r.WithContext(ctx))
	if err == nil {
		*sure = time.Now()
		return true
	}
	known := (*chat.Error)(nil)
	return errors.As(err, &known) && known.Kind == chat.Transient && time.Since(*sure) < streamTrust
}

// sink is one stream as it is written. It is for one goroutine.
type sink struct {
	w       io.Writer
	control *http.ResponseController
	told    map[string]uint64 // of the topics
	until   time.Time         // the end of the last step that was told
}

// event writes one event.
func (s *sink) event(name string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", name, err)
	}
	return s.raw(name, body)
}

func (s *sink) raw(name string, body []byte) error {
	return s.write("event: " + name + "\ndata: " + string(body) + "\n\n")
}

// write writes at once, or fails if the reader does not take it in time.
func (s *sink) write(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	if _, err := io.WriteString(s.w, text); err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	return nil
}

// topics are what the streams tell besides the charts.
func (a *API) topics() []topic {
	all := []topic{{"state", func(ctx context.Context) (any, error) { return a.state(ctx) }}}
	if a.deps.Alerts != nil {
		all = append(all, topic{"alerts", func(ctx context.Context) (any, error) { return a.alertPage(ctx) }})
	}
	return all
}
