package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

type ownPasswordBody struct {
	Old string `json:"old" minLength:"1" maxLength:"1024"`
	New string `json:"new" minLength:"12" maxLength:"1024"`
}

type ownPasswordInput struct{ Body ownPasswordBody }

func (a *API) registerPassword(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-change-own-password", Method: http.MethodPost, Path: "password", Summary: "Change one's own password",
		Description:   "Only with a login. Ends all logins of the operator, this one too: log in with the new password.",
		DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{checkedAs[ownPasswordBody]},
	}, []int{400, 403, 413, 429}, a.changeOwnPassword)
}

// changeOwnPassword asks for the old one: who finds an open page must not be able to make
// lasting access of it, and may try no more often than at the login.
func (a *API) changeOwnPassword(ctx context.Context, in *ownPasswordInput) (*logoutOutput, error) {
	if err := withLogin(ctx); err != nil {
		return nil, err
	}
	name := operatorOf(ctx).actor
	o, err := a.findOperator(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := hurdle(a.logins.try("", name, "own password", time.Now())); err != nil {
		return nil, err
	}
	fits, _, err := a.passwords.Verify(ctx, in.Body.Old, o.Hash)
	if err != nil {
		return nil, busy(err)
	}
	if !fits {
		return nil, &chat.Error{Kind: chat.Denied, Code: codePassword, Detail: "the old password is wrong"}
	}
	hash, err := a.hashed(ctx, in.Body.New)
	if err != nil {
		return nil, err
	}
	e := queue.Audit{Action: "operator.password", Target: name, Reason: "one's own password", After: anotherSecret}
	err = a.change(ctx, e, func() error {
		return a.changeStaff(ctx, func(s *queue.Staff) error {
			stored, found := s.Find(name)
			if !found || stored.Mark != o.Mark {
				return unauthorized("the login has ended: log in again")
			}
			stored.Hash = hash
			stored.EndLogins()
			s.Put(stored)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return &logoutOutput{a.cookie("", -1)}, nil
}
