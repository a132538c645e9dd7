package api

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"html"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

type takeoverInput struct {
	Ticket string `path:"ticket" example:"t_ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
	Body   reasoned
}

// Ownership is who has a session now.
type Ownership struct {
	Tenant    string `json:"tenant"`
	SessionID string `json:"session_id"`
	Owner     string `json:"owner" enum:"bot,queue,human"`
	Human     string `json:"human,omitempty" doc:"the operator who has it"`
	Epoch     uint64 `json:"epoch" doc:"rises when a person takes over"`
}

type takeoverOutput struct{ Body Ownership }

type sayBody struct {
	Text string `json:"text" minLength:"1" maxLength:"10000"`
	CMID string `json:"cmid,omitempty" maxLength:"128" doc:"of the caller: the same again is the same message; with another text it is 409 idempotency_conflict"`
}

type sayInput struct {
	Tenant  string `path:"tenant" maxLength:"32"`
	Session string `path:"session" maxLength:"64"`
	Body    sayBody
}

type sayOutput struct {
	Body struct {
		Seq uint64 `json:"seq" doc:"of the message in its session"`
	}
}

func (a *API) registerTakeovers(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-take-handoff", Method: http.MethodPost, Path: "handoffs/{ticket}/take", Summary: "Take a session over",
		Description: "From here on the bot says nothing in it: its open tickets end `cancelled`, reason `human`, and its promises are called off. " +
			"The same operator again completes what was left; another one: 409 `taken`.",
		Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 409, 413}, a.take)
	manage(a, api, huma.Operation{
		OperationID: "admin-release-handoff", Method: http.MethodPost, Path: "handoffs/{ticket}/release", Summary: "Give a session back to the bot",
		Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 413}, a.release)
	manage(a, api, huma.Operation{
		OperationID: "admin-say", Method: http.MethodPost, Path: "sessions/{tenant}/{session}/messages", Summary: "Write to a customer whose session a person has",
		Description:   "A message of `who: human`, shown as it is written. 409 `not_taken`: no person has the session; `taken`: another operator has it.",
		DefaultStatus: http.StatusCreated, Middlewares: huma.Middlewares{checkedAs[sayBody]},
	}, []int{400, 404, 409, 413}, a.say)
}

func (a *API) take(ctx context.Context, in *takeoverInput) (*takeoverOutput, error) {
	return a.changeOwner(ctx, "handoff.take", in, ownedBy(string(chat.OwnerHuman), operatorOf(ctx).actor), func(ctx context.Context) (queue.Session, error) {
		return a.deps.Queue.TakeOver(ctx, in.Ticket, operatorOf(ctx).actor, time.Now().UTC())
	})
}

func (a *API) release(ctx context.Context, in *takeoverInput) (*takeoverOutput, error) {
	return a.changeOwner(ctx, "handoff.release", in, ownedBy(string(chat.OwnerBot), ""), func(ctx context.Context) (queue.Session, error) {
		return a.deps.Queue.GiveBack(ctx, in.Ticket, time.Now().UTC())
	})
}

// changeOwner changes who has the session of a handoff. An operator who leaves does not keep
// what was begun from its end.
func (a *API) changeOwner(ctx context.Context, action string, in *takeoverInput, after any, do func(context.Context) (queue.Session, error)) (*takeoverOutput, error) {
	h, err := a.handoff(ctx, in.Ticket)
	if err != nil {
		return nil, err
	}
	out := &takeoverOutput{}
	e := queue.Audit{Action: action, Target: in.Ticket, Reason: in.Body.Reason, Before: a.ownerSide(ctx, h.Tenant, h.Session), After: after}
	err = a.change(ctx, e, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
		defer cancel()
		rec, err := do(ctx)
		if errors.Is(err, queue.ErrTaken) {
			return &chat.Error{Kind: chat.Conflict, Code: codeTaken, Detail: "another operator has the session", Err: err}
		}
		out.Body = Ownership{Tenant: h.Tenant, SessionID: h.Session, Owner: rec.Owner, Human: rec.Human, Epoch: rec.Epoch}
		return orUnavailable(err)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (a *API) handoff(ctx context.Context, ticket string) (queue.Handoff, error) {
	if !chat.IsTicketID(ticket) {
		return queue.Handoff{}, notFound("handoff")
	}
	h, err := a.deps.Queue.Handoff(ctx, ticket)
	if errors.Is(err, queue.ErrNotFound) {
		return h, notFound("handoff")
	}
	return h, orUnavailable(err)
}

// say writes to a customer. The audit knows who wrote and to whom, and nothing of the text.
func (a *API) say(ctx context.Context, in *sayInput) (*sayOutput, error) {
	if !chat.IsTenantName(in.Tenant) || !chat.IsSessionID(in.Session) {
		return nil, notFound("session")
	}
	if err := chat.CheckMessage("text", in.Body.Text); err != nil {
		return nil, err
	}
	out := &sayOutput{}
	e := queue.Audit{
		Action: "session.message", Target: in.Tenant + "/" + in.Session, Reason: "a message to the customer",
		After: map[string]any{"characters": utf8.RuneCountInString(in.Body.Text)},
	}
	err := a.change(ctx, e, func() error {
		seq, err := a.deps.Queue.Say(ctx, in.Tenant, in.Session, operatorOf(ctx).actor, sayID(ctx, in.Body.CMID), written(in.Body.Text), time.Now().UTC())
		switch {
		case errors.Is(err, queue.ErrNotFound):
			return notFound("session")
		case errors.Is(err, queue.ErrNotTaken):
			return &chat.Error{Kind: chat.Conflict, Code: codeNotTaken, Detail: "take the session over first", Err: err}
		case errors.Is(err, queue.ErrTaken):
			return &chat.Error{Kind: chat.Conflict, Code: codeTaken, Detail: "another operator has the session; take it over when it was given back", Err: err}
		case errors.Is(err, queue.ErrReused):
			return &chat.Error{Kind: chat.Conflict, Code: codeIdempotency, Detail: "the same cmid was used with another text", Err: err}
		}
		out.Body.Seq = seq
		return orUnavailable(err)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// sayID names a message: an operator's own id of it, else a new one.
func sayID(ctx context.Context, cmid string) string {
	if cmid == "" {
		return strings.TrimPrefix(chat.NewTicketID(), "t_")
	}
	sum := sha256.Sum256([]byte(operatorOf(ctx).actor + "\x00" + cmid))
	return base32.StdEncoding.EncodeToString(sum[:])[:26]
}

// written is a person's text as the customer reads it: nothing in it is markup.
func written(text string) chat.Reply {
	shown := "<p>" + strings.ReplaceAll(html.EscapeString(text), "\n", "<br>") + "</p>"
	return chat.Reply{Text: text, HTML: shown, Locale: chat.Language(text, "")}
}
