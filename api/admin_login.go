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
	"sluice/internal/password"
	"sluice/internal/queue"
)

// loginCookie holds a login's secret. Only paths below /admin get it.
const loginCookie = "sluice_admin"

// loginFor is how long a login holds.
const loginFor = 12 * time.Hour

type loginBody struct {
	User     string `json:"user" minLength:"1" maxLength:"64" example:"admin"`
	Password string `json:"password" minLength:"1" maxLength:"1024"`
}

type loginInput struct {
	Device string `cookie:"sluice_device" doc:"from an earlier login of this browser"`
	Body   loginBody
}

// Session is who is logged in.
type Session struct {
	Actor string    `json:"actor" doc:"user, or token: and the token's name"`
	Role  chat.Role `json:"role" enum:"viewer,operator,admin"`
	CSRF  string    `json:"csrf,omitempty" doc:"of a login: to be sent with every change as X-CSRF-Token"`
}

type loginOutput struct {
	Cookies []http.Cookie `header:"Set-Cookie"`
	Body    Session
}

type logoutOutput struct {
	Cookie http.Cookie `header:"Set-Cookie"`
}

type sessionOutput struct{ Body Session }

func (a *API) registerLogin(api huma.API) {
	operate(api, huma.Operation{
		OperationID: "admin-login", Method: http.MethodPost, Path: adminPath + "login", Tags: []string{"admin"},
		Summary: "Log in as an operator",
		Description: "Sets a cookie that holds for 12 hours, on every node. Few tries a minute: 429. A second cookie tells the browser " +
			"from strangers, whose tries then no longer count against it.",
		Middlewares: huma.Middlewares{a.hesitant, checkedAs[loginBody]},
	}, []int{400, 401, 403, 408, 413, 415, 429, 503}, a.login)
	manage(a, api, huma.Operation{
		OperationID: "admin-logout", Method: http.MethodPost, Path: "logout", Summary: "Log out", DefaultStatus: http.StatusNoContent,
	}, nil, a.logout)
	manage(a, api, huma.Operation{
		OperationID: "admin-session", Method: http.MethodGet, Path: "session", Summary: "Who am I",
	}, nil, func(ctx context.Context, _ *struct{}) (*sessionOutput, error) {
		o := operatorOf(ctx)
		s := Session{Actor: o.actor, Role: o.role}
		if o.secret != "" {
			s.CSRF = csrfOf(o.secret)
		}
		return &sessionOutput{s}, nil
	})
}

func (a *API) login(ctx context.Context, in *loginInput) (*loginOutput, error) {
	staff, err := a.deps.Queue.Staff(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	o, known := staff.Find(in.Body.User)
	if !known {
		o.Hash = password.Nobody // so that the time of a refusal does not tell who exists
	}
	device := deviceOf(in.Device, o)
	if err := hurdle(a.logins.try(networkIn(ctx), in.Body.User, device, time.Now())); err != nil {
		return nil, err
	}
	fits, stale, err := a.passwords.Verify(ctx, in.Body.Password, o.Hash)
	if err != nil {
		return nil, busy(err)
	}
	if !fits || !known {
		a.deps.Log.Warn().Str("stage", "api").Msg("an operator's login was refused")
		return nil, unauthorized("user or password is wrong")
	}
	now := time.Now().UTC()
	if err := a.noteLogin(ctx, o, in.Body.Password, stale, now); err != nil {
		a.deps.Log.Warn().Err(err).Str("stage", "api").Str("actor", o.Name).Msg("a login is not noted with its operator")
	}
	secret := "os_" + rand.Text()
	// Its mark is that of the password that was compared: if that is another one by now,
	// the login has ended already.
	err = a.deps.Queue.AddLogin(ctx, chat.HashKey(secret), queue.Login{User: o.Name, Mark: o.Mark, At: now}, loginFor)
	if err != nil {
		return nil, unavailable(err)
	}
	a.deps.Log.Info().Str("stage", "api").Str("actor", o.Name).Msg("an operator logged in")
	if device == "" {
		device = rand.Text()
	}
	return &loginOutput{
		[]http.Cookie{a.cookie(secret, int(loginFor.Seconds())), a.deviceCookie(device, o)},
		Session{Actor: o.Name, Role: o.Role, CSRF: csrfOf(secret)},
	}, nil
}

// noteLogin keeps when an operator has logged in, and a stale hash's successor.
func (a *API) noteLogin(ctx context.Context, o queue.Operator, given string, stale bool, now time.Time) (err error) {
	hash := ""
	if stale {
		if hash, err = a.passwords.Hash(ctx, given); err != nil {
			return err
		}
	}
	return a.deps.Queue.ChangeStaff(ctx, func(s *queue.Staff) error {
		if stored, found := s.Find(o.Name); found && stored.Mark == o.Mark {
			stored.Hash, stored.LastLoginAt = cmp.Or(hash, stored.Hash), &now
			s.Put(stored)
		}
		return nil
	})
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
	staff, err := a.deps.Queue.Staff(ctx)
	if err != nil {
		return operator{}, unavailable(err)
	}
	o, found := staff.Find(l.User)
	if !found || subtle.ConstantTimeCompare([]byte(o.Mark), []byte(l.Mark)) != 1 {
		return operator{}, refused // removed, or another password or role since
	}
	return operator{actor: o.Name, role: o.Role, secret: secret}, nil
}

// csrfOf derives the token that changes must show from the login's secret, so that every
// node knows it and no script of another page does.
func csrfOf(secret string) string { return chat.HashKey("csrf " + secret) }
