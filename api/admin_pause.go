package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

type pauseBody struct {
	Until  *time.Time `json:"until,omitempty" doc:"when the lane opens by itself; left out: when somebody says so"`
	Reason string     `json:"reason" minLength:"1" maxLength:"500" example:"vendor a is being changed" doc:"why; kept in the audit"`
}

type pauseInput struct {
	Lane chat.Lane `path:"lane" enum:"high,normal,low,deferred,batch"`
	Body pauseBody
}

func (a *API) registerPause(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-pause-lane", Method: http.MethodPost, Path: "lanes/{lane}/pause", Summary: "Start no new calls for a lane",
		Description: "Intake, holding and answers at the limit go on. With `until` the lane opens by itself within a second or two of it, also where " +
			"every process was down meanwhile. The same call again gives a pause another end.",
		Middlewares: huma.Middlewares{checkedAs[pauseBody]},
	}, []int{400, 409, 413}, func(ctx context.Context, in *pauseInput) (*laneOutput, error) {
		order := laneInput{Lane: in.Lane, Body: reasoned{in.Body.Reason}}
		if u := in.Body.Until; u != nil {
			if !u.After(time.Now()) {
				return nil, chat.Bad("until", "must be in the future")
			}
			order.until = u.UTC()
		}
		e := queue.Audit{Action: "lane.pause", Target: string(in.Lane), Reason: in.Body.Reason}
		return a.orderLane(ctx, &order, e, []chat.LaneState{chat.LaneOpen}, chat.LanePaused)
	})
}
