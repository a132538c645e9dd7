package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

type textAgainInput struct {
	ID   string `path:"id" example:"t_ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
	Body reasoned
}

type textAgainOutput struct{ Body Notice }

func (a *API) registerTexts(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-retry-sms", Method: http.MethodPost, Path: "sms/{id}/retry", Summary: "Send a text message again",
		Description: "One that is `failed`, or `unknown`; else 409 `sms_state`. For a day from now on. What may have reached the carrier is looked up " +
			"there first, and another text goes only if it was never taken, or did not arrive. A promise that is broken stays so.",
		DefaultStatus: http.StatusAccepted, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 409, 413}, a.textAgain)
}

func (a *API) textAgain(ctx context.Context, in *textAgainInput) (*textAgainOutput, error) {
	if !chat.IsTicketID(in.ID) {
		return nil, notFound("text message")
	}
	out := &textAgainOutput{}
	err := a.change(ctx, queue.Audit{Action: "sms.retry", Target: in.ID, Reason: in.Body.Reason}, func() error {
		n, why, err := a.deps.Queue.SendAgain(ctx, in.ID, time.Now().UTC())
		switch {
		case errors.Is(err, queue.ErrNotFound):
			return notFound("text message")
		case errors.Is(err, queue.ErrNotAgain):
			return &chat.Error{Kind: chat.Conflict, Code: codeTextState, Detail: why, Err: err}
		case err != nil:
			return unavailable(err)
		}
		out.Body = shownNotice(&n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
