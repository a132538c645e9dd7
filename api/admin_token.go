package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// opsPrefix begins every operator's token; its name follows in the clear, so that the
// token is found by it.
const opsPrefix = "ot_"

// maxOpsTokens bounds how many tokens there are.
const maxOpsTokens = 100

type newOpsToken struct {
	Name   string    `json:"name" pattern:"^[a-z0-9-]{1,32}$" example:"deploy"`
	Role   chat.Role `json:"role,omitempty" enum:"viewer,operator,admin" doc:"at most that of who makes it, and this where it is left out"`
	Reason string    `json:"reason" minLength:"1" maxLength:"500" doc:"what it is for; kept in the audit"`
}

// OpsToken is an operator's token without its secret.
type OpsToken struct {
	Name      string    `json:"name"`
	Role      chat.Role `json:"role" enum:"viewer,operator,admin"`
	Actor     string    `json:"actor" doc:"who made it"`
	Reason    string    `json:"reason"`
	CreatedAt time.Time `json:"created_at"`
}

type tokensOutput struct {
	Body struct {
		Tokens []OpsToken `json:"tokens" nullable:"false"`
	}
}

type newTokenInput struct{ Body newOpsToken }

type newTokenOutput struct {
	Body struct {
		OpsToken
		Token string `json:"token" doc:"shown this once"`
	}
}

type tokenInput struct {
	Name string `path:"name" maxLength:"32"`
	Body reasoned
}

func (a *API) registerTokens(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-tokens", Method: http.MethodGet, Path: "tokens", Summary: "List the operators' tokens",
	}, nil, a.listTokens)
	manage(a, api, huma.Operation{
		OperationID: "admin-add-token", Method: http.MethodPost, Path: "tokens", Summary: "Make a token for a program",
		Description: "Only with a login: a token makes no other tokens. It outlives the operator who makes it.", DefaultStatus: http.StatusCreated,
		Middlewares: huma.Middlewares{checkedAs[newOpsToken]},
	}, []int{400, 409, 413}, a.addToken)
	manage(a, api, huma.Operation{
		OperationID: "admin-remove-token", Method: http.MethodDelete, Path: "tokens/{name}", Summary: "End a token",
		DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 413}, a.removeToken)
}

func (a *API) listTokens(ctx context.Context, _ *struct{}) (*tokensOutput, error) {
	all, err := a.deps.Queue.OpsTokens(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &tokensOutput{}
	out.Body.Tokens = make([]OpsToken, 0, len(all))
	for _, t := range all {
		out.Body.Tokens = append(out.Body.Tokens, OpsToken{t.Name, t.Role, t.Actor, t.Reason, t.At})
	}
	return out, nil
}

func (a *API) addToken(ctx context.Context, in *newTokenInput) (*newTokenOutput, error) {
	if err := withLogin(ctx); err != nil {
		return nil, err
	}
	own := operatorOf(ctx).role
	role := cmp.Or(in.Body.Role, own)
	if !own.Includes(role) {
		return nil, errRole(role, own)
	}
	if all, err := a.deps.Queue.OpsTokens(ctx); err != nil {
		return nil, unavailable(err)
	} else if len(all) >= maxOpsTokens {
		return nil, &chat.Error{Kind: chat.Conflict, Code: codeExists, Detail: "there are too many tokens: remove one"}
	}
	token := opsPrefix + in.Body.Name + "." + rand.Text()
	t := queue.OpsToken{
		Name: in.Body.Name, Role: role, Hash: chat.HashKey(token), Actor: operatorOf(ctx).actor, Reason: in.Body.Reason, At: time.Now().UTC(),
	}
	e := queue.Audit{Action: "token.add", Target: t.Name, Reason: t.Reason, After: map[string]any{"role": t.Role}}
	err := a.change(ctx, e, func() error {
		err := a.deps.Queue.AddOpsToken(ctx, t)
		if errors.Is(err, queue.ErrExists) {
			return &chat.Error{Kind: chat.Conflict, Code: codeExists, Detail: "there is a token of that name"}
		}
		return orUnavailable(err)
	})
	if err != nil {
		return nil, err
	}
	out := &newTokenOutput{}
	out.Body.OpsToken, out.Body.Token = OpsToken{t.Name, t.Role, t.Actor, t.Reason, t.At}, token
	return out, nil
}

// withLogin refuses tokens: who finds one must not be able to make lasting access of it.
func withLogin(ctx context.Context) error {
	if operatorOf(ctx).secret == "" {
		return &chat.Error{Kind: chat.Denied, Code: codeLoginOnly, Detail: "no token may do this: log in"}
	}
	return nil
}

func (a *API) removeToken(ctx context.Context, in *tokenInput) (*struct{}, error) {
	if !chat.IsTenantName(in.Name) {
		return nil, notFound("token")
	}
	t, err := a.deps.Queue.OpsToken(ctx, in.Name)
	if errors.Is(err, queue.ErrNotFound) {
		return nil, notFound("token")
	}
	if err != nil {
		return nil, unavailable(err)
	}
	e := queue.Audit{
		Action: "token.remove", Target: in.Name, Reason: in.Body.Reason, Before: map[string]any{"role": t.Role, "actor": t.Actor},
	}
	return nil, a.change(ctx, e, func() error {
		return orUnavailable(a.deps.Queue.RemoveOpsToken(ctx, in.Name))
	})
}

// tokenOperator returns whose token it is.
func (a *API) tokenOperator(ctx context.Context, token string) (operator, error) {
	refused := unauthorized("the token is not known; it begins with " + opsPrefix)
	rest, found := strings.CutPrefix(token, opsPrefix)
	name, _, cut := strings.Cut(rest, ".")
	if !found || !cut || !chat.IsTenantName(name) {
		return operator{}, refused
	}
	t, err := a.deps.Queue.OpsToken(ctx, name)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return operator{}, unavailable(err)
	}
	if err != nil || subtle.ConstantTimeCompare([]byte(t.Hash), []byte(chat.HashKey(token))) != 1 {
		return operator{}, refused
	}
	return operator{actor: "token:" + t.Name, role: t.Role}, nil
}

// orUnavailable leaves success alone: unavailable returns a pointer, which is an error
// even when it says nothing.
func orUnavailable(err error) error {
	if err == nil {
		return nil
	}
	return unavailable(err)
}
