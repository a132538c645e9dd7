package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/password"
	"sluice/internal/queue"
)

// OperatorInfo is an operator without the password.
type OperatorInfo struct {
	Name        string     `json:"name"`
	Role        chat.Role  `json:"role" enum:"viewer,operator,admin"`
	CreatedAt   time.Time  `json:"created_at"`
	LastLoginAt *time.Time `json:"last_login_at,omitempty"`
}

type operatorsOutput struct {
	Body struct {
		Operators []OperatorInfo `json:"operators" nullable:"false" doc:"by name"`
	}
}

type newOperatorBody struct {
	Name     string    `json:"name" pattern:"^[a-z0-9-]{1,32}$" example:"mei"`
	Role     chat.Role `json:"role" enum:"viewer,operator,admin"`
	Password string    `json:"password" minLength:"12" maxLength:"1024"`
	Reason   string    `json:"reason" minLength:"1" maxLength:"500"`
}

type newOperatorInput struct{ Body newOperatorBody }

type operatorChange struct {
	Role     chat.Role `json:"role,omitempty" enum:"viewer,operator,admin"`
	Password string    `json:"password,omitempty" minLength:"12" maxLength:"1024"`
	Reason   string    `json:"reason" minLength:"1" maxLength:"500"`
}

type operatorChangeInput struct {
	Name string `path:"name" maxLength:"32"`
	Body operatorChange
}

type operatorInput struct {
	Name string `path:"name" maxLength:"32"`
	Body reasoned
}

type operatorOutput struct{ Body OperatorInfo }

func (a *API) registerOperators(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-operators", Method: http.MethodGet, Path: "operators", Summary: "List the operators",
	}, nil, func(ctx context.Context, _ *struct{}) (*operatorsOutput, error) {
		all, err := a.operators(ctx)
		out := &operatorsOutput{}
		out.Body.Operators = all
		return out, err
	})
	manage(a, api, huma.Operation{
		OperationID: "admin-add-operator", Method: http.MethodPost, Path: "operators", Summary: "Add an operator",
		Description: "Only with a login. At most 100.", DefaultStatus: http.StatusCreated,
		Middlewares: huma.Middlewares{checkedAs[newOperatorBody]},
	}, []int{400, 409, 413, 429}, func(ctx context.Context, in *newOperatorInput) (*operatorOutput, error) {
		if err := withLogin(ctx); err != nil {
			return nil, err
		}
		o, err := a.addOperator(ctx, in.Body)
		return &operatorOutput{o}, err
	})
	manage(a, api, huma.Operation{
		OperationID: "admin-change-operator", Method: http.MethodPut, Path: "operators/{name}", Summary: "Change an operator's role or password",
		Description: "Only with a login. Ends the operator's logins on every node. The last admin keeps the role: 409 `last_admin`.",
		Middlewares: huma.Middlewares{checkedAs[operatorChange]},
	}, []int{400, 404, 409, 413, 429}, func(ctx context.Context, in *operatorChangeInput) (*operatorOutput, error) {
		if err := withLogin(ctx); err != nil {
			return nil, err
		}
		o, err := a.changeOperator(ctx, in.Name, in.Body)
		return &operatorOutput{o}, err
	})
	manage(a, api, huma.Operation{
		OperationID: "admin-remove-operator", Method: http.MethodDelete, Path: "operators/{name}", Summary: "Remove an operator",
		Description:   "Only with a login. Ends the operator's logins on every node; tokens that the operator made stay. The last admin stays: 409 `last_admin`.",
		DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 409, 413}, func(ctx context.Context, in *operatorInput) (*struct{}, error) {
		if err := withLogin(ctx); err != nil {
			return nil, err
		}
		return nil, a.removeOperator(ctx, in.Name, in.Body.Reason)
	})
}

func (a *API) operators(ctx context.Context) ([]OperatorInfo, error) {
	staff, err := a.deps.Queue.Staff(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	all := make([]OperatorInfo, 0, len(staff.Operators))
	for _, o := range staff.Operators {
		all = append(all, operatorInfo(o))
	}
	return all, nil
}

func operatorInfo(o queue.Operator) OperatorInfo {
	return OperatorInfo{o.Name, o.Role, o.CreatedAt, o.LastLoginAt}
}

// addOperator adds an operator; the name must be a new one.
func (a *API) addOperator(ctx context.Context, b newOperatorBody) (OperatorInfo, error) {
	switch {
	case !chat.IsTenantName(b.Name): // the form is the same
		return OperatorInfo{}, chat.Bad("name", "must be 1 to 32 of a-z 0-9 -")
	case !b.Role.Includes(chat.Viewer):
		return OperatorInfo{}, chat.Bad("role", "must be one of viewer, operator, admin")
	}
	hash, err := a.hashed(ctx, b.Password)
	if err != nil {
		return OperatorInfo{}, err
	}
	o := queue.NewOperator(b.Name, b.Role, hash, time.Now())
	e := queue.Audit{Action: "operator.add", Target: b.Name, Reason: b.Reason, After: map[string]any{"role": b.Role}}
	return operatorInfo(o), a.change(ctx, e, func() error {
		return a.changeStaff(ctx, func(s *queue.Staff) error {
			if _, found := s.Find(b.Name); found {
				return &chat.Error{Kind: chat.Conflict, Code: codeExists, Detail: "there is an operator of that name"}
			}
			s.Put(o)
			return nil
		})
	})
}

// changeOperator gives an operator another role, another password, or both.
func (a *API) changeOperator(ctx context.Context, name string, b operatorChange) (out OperatorInfo, err error) {
	if b.Role == "" && b.Password == "" {
		return out, chat.Bad("body", "must change something: role or password")
	}
	before, err := a.findOperator(ctx, name)
	if err != nil {
		return out, err
	}
	hash := ""
	if b.Password != "" {
		if hash, err = a.hashed(ctx, b.Password); err != nil {
			return out, err
		}
	}
	after := map[string]any{"role": cmp.Or(b.Role, before.Role)}
	if hash != "" {
		after["password"] = anotherSecret
	}
	e := queue.Audit{
		Action: "operator.change", Target: name, Reason: b.Reason, Before: map[string]any{"role": before.Role}, After: after,
	}
	err = a.change(ctx, e, func() error {
		return a.changeStaff(ctx, func(s *queue.Staff) error {
			o, found := s.Find(name)
			if !found {
				return notFound("operator")
			}
			o.Role, o.Hash = cmp.Or(b.Role, o.Role), cmp.Or(hash, o.Hash)
			o.EndLogins()
			s.Put(o)
			out = operatorInfo(o)
			return keepsAdmin(s)
		})
	})
	return out, err
}

func (a *API) removeOperator(ctx context.Context, name, reason string) error {
	o, err := a.findOperator(ctx, name)
	if err != nil {
		return err
	}
	e := queue.Audit{Action: "operator.remove", Target: name, Reason: reason, Before: map[string]any{"role": o.Role}}
	return a.change(ctx, e, func() error {
		return a.changeStaff(ctx, func(s *queue.Staff) error {
			s.Remove(name)
			return keepsAdmin(s)
		})
	})
}

func (a *API) findOperator(ctx context.Context, name string) (queue.Operator, error) {
	staff, err := a.deps.Queue.Staff(ctx)
	if err != nil {
		return queue.Operator{}, unavailable(err)
	}
	o, found := staff.Find(name)
	if !found {
		return queue.Operator{}, notFound("operator")
	}
	return o, nil
}

// changeStaff changes the operators as they are stored by now.
func (a *API) changeStaff(ctx context.Context, change func(*queue.Staff) error) error {
	err := a.deps.Queue.ChangeStaff(ctx, change)
	if errors.Is(err, queue.ErrLarge) {
		return &chat.Error{Kind: chat.Conflict, Code: codeExists, Detail: "there are too many operators: remove one"}
	}
	return orUnavailable(err)
}

// keepsAdmin refuses a change after which nobody could change anything.
func keepsAdmin(s *queue.Staff) error {
	if s.Admins() > 0 {
		return nil
	}
	return &chat.Error{Kind: chat.Conflict, Code: codeLastAdmin, Detail: "this is the last admin: make another one first"}
}

// hashed returns the slow hash of a new password.
func (a *API) hashed(ctx context.Context, given string) (string, error) {
	if fault := password.Check(given); fault != "" {
		return "", chat.Bad("password", "%s", fault)
	}
	hash, err := a.passwords.Hash(ctx, given)
	if err != nil {
		return "", busy(err)
	}
	return hash, nil
}
