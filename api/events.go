package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// maxEvents is the most events of one answer.
const maxEvents = 500

// Events is a part of a session's durable events.
type Events struct {
	Events    []chat.Event `json:"events" nullable:"false" doc:"in order of seq, at most 500"`
	Head      uint64       `json:"head" doc:"seq of the session's newest event; ask again with after while it is greater than the last one here"`
	Recovered bool         `json:"recovered" doc:"false: events between after and the first one here are kept no more"`
}

type eventsInput struct {
	ID    string `path:"id" example:"s_ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
	After string `query:"after" example:"7" doc:"only events with a greater seq"`
	Wait  string `query:"wait" example:"20s" doc:"where there are none, waits for some, at most so long; up to 60s"`
}

type eventsOutput struct{ Body Events }

func (a *API) registerEvents(api huma.API) {
	operate(api, huma.Operation{
		OperationID: "list-events", Method: http.MethodGet, Path: "/v1/sessions/{id}/events", Tags: []string{"sessions"},
		Summary:     "Read a session's durable events, or wait for new ones",
		Description: "The fallback for callers without a socket: the same events in the same order.",
		Security:    []map[string][]string{{byTenantKey: {}}, {bySessionToken: {}}},
		Middlewares: huma.Middlewares{a.keyedOrHeld},
	}, []int{400, 401, 404, 429, 503}, a.listEvents)
}

func (a *API) listEvents(ctx context.Context, in *eventsInput) (*eventsOutput, error) {
	if !chat.IsSessionID(in.ID) {
		return nil, notFound("session")
	}
	wait, err := parseWait(in.Wait)
	if err != nil {
		return nil, err
	}
	var after uint64
	if in.After != "" {
		if after, err = strconv.ParseUint(in.After, 10, 64); err != nil {
			return nil, chat.Bad("after", "must be a seq: a whole number of at least 0")
		}
	}
	tenant := callerOf(ctx).Name
	a.sockets.presence.back(ctx, talk{tenant, in.ID})
	found, err := a.events(ctx, tenant, in.ID, after)
	if err != nil || len(found.Events) > 0 || wait == 0 {
		return &eventsOutput{found}, err
	}
	if err := a.awaitEvent(ctx, talk{tenant, in.ID}, after, wait); err != nil {
		return nil, err
	}
	found, err = a.events(ctx, tenant, in.ID, after)
	return &eventsOutput{found}, err
}

// awaitEvent waits until the session probably has an event after a seq.
func (a *API) awaitEvent(ctx context.Context, t talk, after uint64, wait time.Duration) error {
	leave, err := a.poll()
	if err != nil {
		return err
	}
	defer leave()
	l := a.hub.listen(t.tenant, t.session, pollBuffer)
	defer l.close()
	a.sockets.presence.back(ctx, t)
	found, err := a.events(ctx, t.tenant, t.session, after)
	if err != nil || len(found.Events) > 0 {
		return err
	}
	return a.await(ctx, l, wait, func(e *chat.Event) bool { return e.Seq > after })
}

// events reads a session's events after a seq; those that the engine keeps no more
// come from history.
func (a *API) events(ctx context.Context, tenant, session string, after uint64) (Events, error) {
	kept, head, ok, err := a.deps.Queue.Events(ctx, tenant, session, after, maxEvents)
	if err != nil {
		return Events{}, unavailable(err)
	}
	if after > head && head > 0 { // of another life of the session: all that there is, as on a socket
		found, err := a.events(ctx, tenant, session, 0)
		found.Recovered = false
		return found, err
	}
	found := Events{Events: kept, Head: head, Recovered: ok}
	if head == 0 {
		if _, err := a.deps.Queue.Session(ctx, tenant, session); errors.Is(err, queue.ErrNotFound) {
			return Events{}, notFound("session")
		} else if err != nil {
			return Events{}, unavailable(err)
		}
	}
	if !ok && a.deps.History != nil {
		if found, err = a.older(ctx, talk{tenant, session}, after, found); err != nil {
			return Events{}, err
		}
	}
	if found.Events == nil {
		found.Events = []chat.Event{}
	}
	return found, nil
}

// older puts before what the engine keeps what history knows of the gap.
func (a *API) older(ctx context.Context, t talk, after uint64, found Events) (Events, error) {
	old, err := a.deps.History.Events(ctx, t.tenant, t.session, after, maxEvents)
	if errors.Is(err, queue.ErrNotFound) {
		return found, nil
	}
	if err != nil {
		return found, errHistory(err)
	}
	var all []chat.Event
	for _, e := range old {
		if len(found.Events) == 0 || e.Seq < found.Events[0].Seq {
			all = append(all, e)
		}
	}
	all = append(all, found.Events...)
	all = all[:min(len(all), maxEvents)]
	found.Recovered = len(all) > 0
	for i, e := range all {
		found.Recovered = found.Recovered && e.Seq == after+1+uint64(i)
	}
	found.Events = all
	return found, nil
}
