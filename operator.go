package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"
	"time"

	"sluice/api"
)

// operatorCmd speaks to a running instance about its operators.
type operatorCmd struct {
	Add      operatorAddCmd      `cmd:"" help:"Add an operator and show the password."`
	List     operatorListCmd     `cmd:"" help:"List the operators."`
	Password operatorPasswordCmd `cmd:"" help:"Give an operator a new password; all logins of the operator end."`
}

type operatorAddCmd struct {
	where
	Name string `arg:"" help:"1 to 32 of a-z 0-9 -."`
	Role string `help:"What the operator may do." enum:"viewer,operator,admin" default:"operator"`
}

// Run adds the operator.
func (c *operatorAddCmd) Run(ctx context.Context, out io.Writer) error {
	var o api.OperatorPassword
	if err := c.call(ctx, http.MethodPost, "/operators", map[string]any{"name": c.Name, "role": c.Role}, &o); err != nil {
		return err
	}
	return showPassword(out, o)
}

type operatorPasswordCmd struct {
	where
	Name string `arg:"" help:"Of the operator."`
}

// Run renews the operator's password.
func (c *operatorPasswordCmd) Run(ctx context.Context, out io.Writer) error {
	var o api.OperatorPassword
	if err := c.call(ctx, http.MethodPost, "/operators/"+c.Name+"/password", nil, &o); err != nil {
		return err
	}
	return showPassword(out, o)
}

func showPassword(out io.Writer, o api.OperatorPassword) error {
	_, err := fmt.Fprintf(out, "operator %s (%s)\npassword %s\nThe password is shown this once.\n", o.Name, o.Role, o.Password)
	return err
}

type operatorListCmd struct{ where }

// Run lists the operators.
func (c *operatorListCmd) Run(ctx context.Context, out io.Writer) error {
	var all []api.OperatorInfo
	if err := c.call(ctx, http.MethodGet, "/operators", nil, &all); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "NAME\tROLE\tCREATED\tLAST LOGIN")
	for _, o := range all {
		last := "never"
		if o.LastLoginAt != nil {
			last = o.LastLoginAt.Format(time.RFC3339)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", o.Name, o.Role, o.CreatedAt.Format(time.RFC3339), last)
	}
	return table.Flush()
}
