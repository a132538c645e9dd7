package api

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"golang.org/x/crypto/bcrypt"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// loginCookie holds a login's secret. Only paths below /admin get it.
const loginCookie = "sluice_admin"

// loginFor is how long a login holds.
const loginFor = 12 * time.Hour

// nobodysHash is compared with where there is no such user, so that the time of a
// refusal does not tell who exists. It fits no password that anybody has.
const nobodysHash = "$2a$10$7EqJtq98hPqEX7fNZaFWoOhi5BdX0d1S3PqW6E6D2hE9bq8Q7bQ9e"

type loginBody struct {
	User     string `json:"user" minLength:"1" maxLength:"64" example:"admin"`
	Password string `json:"password" minLength:"1" maxLength:"1024"`
}

type loginInput struct{ Body loginBody }

// Session is who is logged in.
type Session struct {
	Actor string `json:"actor" doc:"user, or token: and the token's name"`
	CSRF  string `json:"csrf,omitempty" doc:"of a login: to be sent with every change as X-CSRF-Token"`
}

type loginOutput struct {
	Cookie http.Cookie `header:"Set-Cookie"`
	Body   Session
}

type logoutOutput struct {
	Cookie http.Cookie `header:"Set-Cookie"`
}

type sessionOutput struct{ Body Session }

func (a *API) registerLogin(api huma.API) {
	operate(api, huma.Operation{
		OperationID: "admin-login", Method: http.MethodPost, Path: adminPath + "login", Tags: []string{"admin"},
		Summary:     "Log in as an operator",
		Description: "Sets a cookie that holds for 12 hours, on every node. Few tries a minute: 429.",
		Middlewares: huma.Middlewares{a.hesitant, checkedAs[loginBody]},
	}, []int{400, 401, 408, 413, 415, 429, 503}, a.login)
	manage(a, api, huma.Operation{
		OperationID: "admin-logout", Method: http.MethodPost, Path: "logout", Summary: "Log out", DefaultStatus: http.StatusNoContent,
	}, nil, a.logout)
	manage(a, api, huma.Operation{
		OperationID: "admin-session", Method: http.MethodGet, Path: "session", Summary: "Who am I",
	}, nil, func(ctx context.Context, _ *struct{}) (*sessionOutput, error) {
		o := operatorOf(ctx)
		s := Session{Actor: o.actor}
		if o.secret != "" {
			s.CSRF = csrfOf(o.secret)
		}
		return &sessionOutput{s}, nil
	})
}

// hesitant lets few tries through. It goes by the address of the connection: what a
// header says of it, anybody may write.
func (a *API) hesitant(ctx huma.Context, next func(huma.Context)) {
	if wait := a.logins.try(humaecho.Unwrap(ctx).Request().RemoteAddr, time.Now()); wait > 0 {
		refuse(ctx, &chat.Error{
			Kind: chat.Overloaded, Code: codeRateLimited, RetryAfter: wait, Detail: "too many tries to log in; wait a little",
		})
		return
	}
	next(ctx)
}

func (a *API) login(ctx context.Context, in *loginInput) (*loginOutput, error) {
	refused := unauthorized("user or password is wrong")
	hash, err := a.passwordHash(ctx, in.Body.User)
	unknown := errors.Is(err, queue.ErrNotFound)
	if err != nil && !unknown {
		return nil, unavailable(err)
	}
	if unknown {
		hash = nobodysHash
	}
	if bcrypt.CompareHashAndPassword([]byte(hash), []byte(in.Body.Password)) != nil || unknown {
		a.deps.Log.Warn().Str("stage", "api").Msg("an operator's login was refused")
		return nil, refused
	}
	secret := "os_" + rand.Text()
	l := queue.Login{User: in.Body.User, Mark: markOf(hash), At: time.Now().UTC()}
	err = a.deps.Queue.AddLogin(ctx, chat.HashKey(secret), l, loginFor)
	if err != nil {
		return nil, unavailable(err)
	}
	a.deps.Log.Info().Str("stage", "api").Str("actor", in.Body.User).Msg("an operator logged in")
	return &loginOutput{a.cookie(secret, int(loginFor.Seconds())), Session{Actor: in.Body.User, CSRF: csrfOf(secret)}}, nil
}

// passwordHash returns the slow hash of an operator's password.
func (a *API) passwordHash(ctx context.Context, user string) (string, error) {
	if !chat.IsTenantName(user) { // the form of a user's name is the same
		return "", queue.ErrNotFound
	}
	return a.deps.Queue.Admin(ctx, user)
}

func (a *API) logout(ctx context.Context, _ *struct{}) (*logoutOutput, error) {
	if secret := operatorOf(ctx).secret; secret != "" {
		if err := a.deps.Queue.RemoveLogin(ctx, chat.HashKey(secret)); err != nil {
			return nil, unavailable(err)
		}
	}
	return &logoutOutput{a.cookie("", -1)}, nil
}

func (a *API) cookie(value string, age int) http.Cookie {
	return http.Cookie{
		Name: loginCookie, Value: value, Path: "/admin", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: strings.HasPrefix(a.cfg.PublicURL, "https:"),
	}
}

// loginOperator returns whose login a cookie's secret opens. It is looked up by its
// hash, so the time tells nothing about it.
func (a *API) loginOperator(ctx context.Context, secret string) (operator, error) {
	refused := unauthorized("the login has ended: log in again")
	l, err := a.deps.Queue.Login(ctx, chat.HashKey(secret))
	if errors.Is(err, queue.ErrNotFound) {
		return operator{}, refused
	}
	if err != nil {
		return operator{}, unavailable(err)
	}
	hash, err := a.passwordHash(ctx, l.User)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return operator{}, unavailable(err)
	}
	if err != nil || subtle.ConstantTimeCompare([]byte(markOf(hash)), []byte(l.Mark)) != 1 {
		return operator{}, refused // the password is another one since
	}
	return operator{actor: l.User, secret: secret}, nil
}

// csrfOf derives the token that changes must show from the login's secret, so that every
// node knows it and no script of another page does.
func csrfOf(secret string) string { return chat.HashKey("csrf " + secret) }

// markOf tells one password's hash from another without being it.
func markOf(hash string) string { return chat.HashKey("mark " + hash) }
