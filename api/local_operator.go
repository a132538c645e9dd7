package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"sluice/internal/chat"
	"sluice/internal/password"
)

// localActor is who the audit names for commands on the machine. No operator can have the
// name.
const localActor = "command:local"

// OperatorPassword is an operator with a new password, which is shown this once.
type OperatorPassword struct {
	Name     string    `json:"name"`
	Role     chat.Role `json:"role"`
	Password string    `json:"password"`
}

// asCommand gives a command on the machine the rights of an admin.
func asCommand(ctx context.Context) context.Context {
	return context.WithValue(ctx, operatorKey{}, operator{actor: localActor, role: chat.Admin})
}

func (a *API) addOperatorLocally(w http.ResponseWriter, r *http.Request) (int, any, error) {
	body, err := readBody(w, r)
	if err != nil {
		return 0, nil, err
	}
	var in struct {
		Name string    `json:"name"`
		Role chat.Role `json:"role"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return 0, nil, chat.Bad("body", "must be JSON with name and role: %v", err)
	}
	given := password.Generate()
	o, err := a.addOperator(asCommand(r.Context()), newOperatorBody{
		Name: in.Name, Role: in.Role, Password: given, Reason: "sluice operator add",
	})
	return http.StatusCreated, OperatorPassword{o.Name, o.Role, given}, err
}

func (a *API) listOperatorsLocally(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	all, err := a.operators(r.Context())
	return http.StatusOK, all, err
}

func (a *API) renewPasswordLocally(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	given := password.Generate()
	o, err := a.changeOperator(asCommand(r.Context()), r.PathValue("name"), operatorChange{
		Password: given, Reason: "sluice operator password",
	})
	return http.StatusOK, OperatorPassword{o.Name, o.Role, given}, err
}
