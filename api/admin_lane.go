package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// How long a call that clears a lane waits for it, and how often it looks.
const (
	clearWait = 10 * time.Second
	clearLook = 50 * time.Millisecond
)

// Lane is how a lane stands over all processes.
type Lane struct {
	Lane        chat.Lane      `json:"lane" enum:"high,normal,low,deferred,batch"`
	State       chat.LaneState `json:"state" enum:"open,paused,draining,drained"`
	Actor       string         `json:"actor,omitempty" doc:"who put it into this state"`
	Reason      string         `json:"reason,omitempty"`
	Since       *time.Time     `json:"since,omitempty"`
	Until       *time.Time     `json:"until,omitempty" doc:"of a pause: when it ends by itself"`
	Depth       int            `json:"depth" doc:"accepted and not ended"`
	Bound       int            `json:"bound" doc:"in force now; one that was lowered falls with the depth"`
	Waiting     *int           `json:"waiting,omitempty" doc:"of the depth: no vendor works on them; left out where nobody knows"`
	Unconfirmed []string       `json:"unconfirmed" nullable:"false" doc:"nodes that take messages in and have not confirmed this state yet"`
	Clearing    *Clearing      `json:"clearing,omitempty" doc:"the newest request to answer or purge what waits"`
	LaneFlow
}

// Clearing is how far a request to end what waits in a lane has come.
type Clearing struct {
	Way    queue.Clearance `json:"way" enum:"answer,purge"`
	Actor  string          `json:"actor"`
	Reason string          `json:"reason"`
	At     time.Time       `json:"at"`
	Ended  int             `json:"ended" doc:"answered or cancelled by it"`
	Left   int             `json:"left" doc:"left alone, because a vendor works on them"`
	Gone   int             `json:"gone" doc:"ended by somebody else meanwhile"`
	Done   bool            `json:"done"`
}

type laneInput struct {
	Lane chat.Lane `path:"lane" enum:"high,normal,low,deferred,batch"`
	Body reasoned

	until time.Time // of a pause
}

type laneOutput struct{ Body Lane }

type clearOutput struct {
	Status int
	Body   Clearing
}

func (a *API) registerLanes(api huma.API) {
	a.registerPause(api)
	op := huma.Operation{Method: http.MethodPost, Middlewares: huma.Middlewares{checkedAs[reasoned]}}
	for _, t := range []struct {
		verb          string
		from          []chat.LaneState
		to            chat.LaneState
		summary, text string
	}{
		{"resume", []chat.LaneState{chat.LanePaused}, chat.LaneOpen, "End a pause", ""},
		{"drain", []chat.LaneState{chat.LaneOpen, chat.LanePaused}, chat.LaneDraining, "Take nothing more into a lane and empty it",
			"Intake refuses with 503 `draining`; a pause is lifted. Urgent messages go into their tenant's own lane while `high` drains. " +
				"The state is `drained` once every live node has confirmed it and nothing is left."},
		{"undrain", []chat.LaneState{chat.LaneDraining}, chat.LaneOpen, "Take messages into a lane again", ""},
	} {
		op.OperationID, op.Path, op.Summary, op.Description = "admin-"+t.verb+"-lane", "lanes/{lane}/"+t.verb, t.summary, t.text
		manage(a, api, op, []int{400, 409, 413}, func(ctx context.Context, in *laneInput) (*laneOutput, error) {
			return a.orderLane(ctx, in, queue.Audit{Action: "lane." + t.verb, Target: string(in.Lane), Reason: in.Body.Reason}, t.from, t.to)
		})
	}
	for way, summary := range map[queue.Clearance]string{
		queue.ClearByAnswer: "Answer what waits in a lane without a vendor, now",
		queue.ClearByPurge:  "Cancel what waits in a lane",
	} {
		op.OperationID, op.Path, op.Summary = "admin-"+string(way)+"-lane", "lanes/{lane}/"+string(way), summary
		op.Description = "Ends what waited in the lane when it was asked for, ticket by ticket; every customer is told. Tickets that a vendor works " +
			"on are left alone. 202 after 10 s with the counts so far: the same call again waits on, and the work goes on without it."
		manage(a, api, op, []int{400, 409, 413}, func(ctx context.Context, in *laneInput) (*clearOutput, error) {
			return a.clearLane(ctx, in, way)
		})
		documentAccepted(api, adminPath+op.Path)
	}
}

// documentAccepted adds to a call that mostly answers 200 the 202 that the library
// cannot know of.
func documentAccepted(api huma.API, path string) {
	responses := api.OpenAPI().Paths[path].Post.Responses
	responses["202"] = &huma.Response{Description: "Not done yet", Content: responses["200"].Content}
}

var errNoLanes = errors.New("this process does not steer lanes")

// orderLane changes the state of a lane. A lane that is in the state already is left alone.
func (a *API) orderLane(ctx context.Context, in *laneInput, e queue.Audit, from []chat.LaneState, to chat.LaneState) (*laneOutput, error) {
	if a.deps.Lanes == nil {
		return nil, unavailable(errNoLanes)
	}
	now, err := a.deps.Queue.LaneOrder(ctx, in.Lane)
	if err != nil {
		return nil, unavailable(err)
	}
	if now.State != to || !now.Until.Equal(in.until) {
		if now.State != to && !slices.Contains(from, now.State) {
			return nil, &chat.Error{Kind: chat.Conflict, Code: codeLaneState, Detail: "the lane is " + string(now.State)}
		}
		e.Before, e.After = now.State, to
		err = a.change(ctx, e, func() error {
			_, err := a.deps.Queue.SetLaneOrder(ctx, in.Lane, queue.LaneOrder{
				State: to, Actor: operatorOf(ctx).actor, Reason: e.Reason, At: time.Now().UTC(), Until: in.until, Rev: now.Rev,
			})
			if err != nil {
				return lost(err, codeLaneState, "somebody else has changed the lane's state meanwhile")
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	} else if err := checkReason(e.Reason); err != nil {
		return nil, err
	}
	lane, err := a.lane(ctx, in.Lane, nil)
	if err != nil {
		return nil, err
	}
	return &laneOutput{lane}, nil
}

// lane tells how a lane stands; running is how many of each lane vendors work on, nil if
// nobody knows.
func (a *API) lane(ctx context.Context, name chat.Lane, running map[chat.Lane]int) (Lane, error) {
	s, err := a.deps.Queue.Standing(ctx, name)
	if err != nil {
		return Lane{}, unavailable(err)
	}
	return a.laneOf(ctx, s, running)
}

// laneOf is lane for one of which is known how it stands.
func (a *API) laneOf(ctx context.Context, s queue.LaneStanding, running map[chat.Lane]int) (Lane, error) {
	name := s.Lane
	l := Lane{
		Lane: name, State: s.State, Actor: s.Actor, Reason: s.Reason, Depth: s.Depth, Bound: s.Bound,
		Unconfirmed: s.Unconfirmed, LaneFlow: a.laneFlow(name, s.Oldest),
	}
	if l.Unconfirmed == nil {
		l.Unconfirmed = []string{}
	}
	if !s.At.IsZero() {
		l.Since = &s.At
	}
	if !s.Until.IsZero() {
		l.Until = &s.Until
	}
	if running != nil {
		waiting := max(0, s.Depth-running[name])
		l.Waiting = &waiting
	}
	c, err := a.deps.Queue.Clearing(ctx, name)
	switch {
	case err == nil:
		view := clearing(&c)
		l.Clearing = &view
	case !errors.Is(err, queue.ErrNotFound):
		return Lane{}, unavailable(err)
	}
	return l, nil
}

func clearing(c *queue.Clearing) Clearing {
	return Clearing{Way: c.Way, Actor: c.Actor, Reason: c.Reason, At: c.At, Ended: c.Ended, Left: c.Left, Gone: c.Gone, Done: c.Done}
}

// clearLane asks for what waits to be ended, and waits for it a while.
func (a *API) clearLane(ctx context.Context, in *laneInput, way queue.Clearance) (*clearOutput, error) {
	if a.deps.Lanes == nil {
		return nil, unavailable(errNoLanes)
	}
	var c queue.Clearing
	e := queue.Audit{Action: "lane." + string(way), Target: string(in.Lane), Reason: in.Body.Reason}
	err := a.change(ctx, e, func() (err error) {
		c, err = a.deps.Lanes.Clear(ctx, queue.Clearing{
			Lane: in.Lane, Way: way, Actor: operatorOf(ctx).actor, Reason: in.Body.Reason, At: time.Now().UTC(),
		})
		if errors.Is(err, queue.ErrBusy) {
			return &chat.Error{Kind: chat.Conflict, Code: codeBusy, Detail: "what waits in the lane is being ended already, in another way"}
		}
		return orUnavailable(err)
	})
	if err != nil {
		return nil, err
	}
	if c, err = a.awaitClear(ctx, c); err != nil {
		return nil, err
	}
	out := &clearOutput{Status: http.StatusOK, Body: clearing(&c)}
	if !c.Done {
		out.Status = http.StatusAccepted
	}
	return out, nil
}

// awaitClear looks at a request until it is done, or clearWait has passed.
func (a *API) awaitClear(ctx context.Context, c queue.Clearing) (queue.Clearing, error) {
	limit := time.NewTimer(clearWait)
	defer limit.Stop()
	look := time.NewTicker(clearLook)
	defer look.Stop()
	for !c.Done {
		select {
		case <-limit.C:
			return c, nil
		case <-a.stopping:
			return c, nil
		case <-ctx.Done():
			return c, unavailable(ctx.Err())
		case <-look.C:
		}
		now, err := a.deps.Queue.Clearing(ctx, c.Lane)
		if err != nil {
			return c, unavailable(err)
		}
		if !now.At.Equal(c.At) {
			return c, nil // a newer request took its place: it was done before that
		}
		c = now
	}
	return c, nil
}
