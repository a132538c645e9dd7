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

// WebhookPage is the webhooks in one state.
type WebhookPage struct {
	Webhooks []Webhook              `json:"webhooks" nullable:"false" doc:"those that changed last first"`
	Counts   map[chat.HookState]int `json:"counts"`
	Off      []chat.HookOff         `json:"off" nullable:"false" doc:"endpoints that answered 410"`
}

// Webhook is one message to a tenant's own server, as operators see it.
type Webhook struct {
	ID     string         `json:"id" doc:"the header webhook-id of all its tries"`
	Tenant string         `json:"tenant"`
	Type   chat.HookType  `json:"type"`
	About  string         `json:"about" doc:"id of the ticket or batch"`
	URL    string         `json:"url,omitempty" doc:"left out: the tenant's endpoint of the rules"`
	State  chat.HookState `json:"state" enum:"waiting,delivered,dead,unwanted"`
	Tries  int            `json:"tries"`
	Status int            `json:"status,omitempty" doc:"the answer to the last try"`
	Fault  string         `json:"fault,omitempty"`
	At     time.Time      `json:"at"`
	NextAt *time.Time     `json:"next_at,omitempty"`
	DoneAt *time.Time     `json:"done_at,omitempty"`
}

type hooksInput struct {
	State chat.HookState `query:"state" enum:"waiting,delivered,dead,unwanted" default:"dead"`
	Limit int            `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

type hooksOutput struct{ Body WebhookPage }

type replayInput struct {
	ID   string `path:"id" example:"msg_ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
	Body reasoned
}

type webhookOutput struct{ Body Webhook }

type enableBody struct {
	Tenant string `json:"tenant" pattern:"^[a-z0-9-]{1,32}$"`
	URL    string `json:"url" minLength:"1" maxLength:"2048"`
	Reason string `json:"reason" minLength:"1" maxLength:"500"`
}

type enableInput struct{ Body enableBody }

// HookSecret is a tenant's new secret, shown once.
type HookSecret struct {
	Secret      string     `json:"secret" doc:"whsec_…; shown this once"`
	FormerUntil *time.Time `json:"former_until,omitempty" doc:"until then the former secret signs as well, and each before it until its own day is over"`
}

type hookSecretOutput struct{ Body HookSecret }

func (a *API) registerHooks(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-webhooks", Method: http.MethodGet, Path: "webhooks", Summary: "List the webhooks in one state",
	}, []int{400}, a.webhooks)
	manage(a, api, huma.Operation{
		OperationID: "admin-replay-webhook", Method: http.MethodPost, Path: "webhooks/{id}/replay", Summary: "Send a dead webhook again",
		Description: "Under the same id, for a day from now on.", Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 409, 413}, a.replayHook)
	manage(a, api, huma.Operation{
		OperationID: "admin-enable-webhook-endpoint", Method: http.MethodPost, Path: "webhooks/endpoints/enable", Summary: "Send to an endpoint again that answered 410",
		DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{checkedAs[enableBody]},
	}, []int{400, 404, 413}, a.enableHook)
	manage(a, api, huma.Operation{
		OperationID: "admin-new-webhook-secret", Method: http.MethodPost, Path: "tenants/{name}/webhook-secret", Summary: "Give a tenant a new secret for webhooks",
		Description: "The former one signs beside it for a day.", Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 413}, a.newHookSecret)
}

func (a *API) webhooks(ctx context.Context, in *hooksInput) (*hooksOutput, error) {
	found, counts, err := a.deps.Queue.Hooks(ctx, in.State, in.Limit)
	if err != nil {
		return nil, unavailable(err)
	}
	page := WebhookPage{Webhooks: make([]Webhook, 0, len(found)), Counts: counts}
	for _, h := range found {
		page.Webhooks = append(page.Webhooks, webhookOf(h))
	}
	if page.Off, err = a.deps.Queue.HooksOff(ctx); err != nil {
		return nil, unavailable(err)
	}
	return &hooksOutput{page}, nil
}

func webhookOf(h chat.Hook) Webhook {
	w := Webhook{
		ID: h.ID, Tenant: h.Tenant, Type: h.Type, About: h.About, URL: h.URL, State: h.State, Tries: h.Tries,
		Status: h.Status, Fault: h.Fault, At: h.At,
	}
	if h.State == chat.HookWaiting {
		w.NextAt = &h.NextAt
	} else {
		w.DoneAt = &h.DoneAt
	}
	return w
}

func (a *API) replayHook(ctx context.Context, in *replayInput) (*webhookOutput, error) {
	if !chat.IsHookID(in.ID) {
		return nil, notFound("webhook")
	}
	out := &webhookOutput{}
	err := a.change(ctx, queue.Audit{Action: "webhook.replay", Target: in.ID, Reason: in.Body.Reason}, func() error {
		h, err := a.deps.Queue.ReplayHook(ctx, in.ID, time.Now().UTC())
		switch {
		case errors.Is(err, queue.ErrNotFound):
			return notFound("webhook")
		case errors.Is(err, queue.ErrNotDead):
			return &chat.Error{Kind: chat.Conflict, Code: codeHookState, Detail: "only a dead webhook is sent again; this one is " + string(h.State), Err: err}
		}
		out.Body = webhookOf(h)
		return orUnavailable(err)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (a *API) enableHook(ctx context.Context, in *enableInput) (*struct{}, error) {
	e := queue.Audit{Action: "webhook.enable", Target: in.Body.Tenant, Reason: in.Body.Reason}
	return nil, a.change(ctx, e, func() error {
		err := a.deps.Queue.TurnHookOn(ctx, in.Body.Tenant, in.Body.URL)
		if errors.Is(err, queue.ErrNotFound) {
			return notFound("endpoint that is off")
		}
		return orUnavailable(err)
	})
}

func (a *API) newHookSecret(ctx context.Context, in *tenantKeysInput) (*hookSecretOutput, error) {
	if _, err := a.tenant(ctx, in.Name); err != nil {
		return nil, err
	}
	out := &hookSecretOutput{}
	err := a.change(ctx, queue.Audit{Action: "tenant.webhook-secret", Target: in.Name, Reason: in.Body.Reason, After: anotherSecret}, func() (err error) {
		out.Body, err = a.rotateHookSecret(ctx, in.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
