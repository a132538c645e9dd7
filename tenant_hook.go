package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"sluice/api"
)

type tenantHookCmd struct {
	where
	Name string `arg:"" help:"Of the tenant."`
}

// Run renews the secret that signs what is sent to the tenant's servers.
func (c *tenantHookCmd) Run(ctx context.Context, out io.Writer) error {
	var s api.HookSecret
	if err := c.call(ctx, http.MethodPost, "/tenants/"+c.Name+"/webhook-secret", nil, &s); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "tenant         %s\nwebhook secret %s\nThe secret is shown this once.\n", c.Name, s.Secret)
	if err == nil && s.FormerUntil != nil {
		_, err = fmt.Fprintf(out, "The former one signs beside it until %s.\n", s.FormerUntil.Format(time.RFC3339))
	}
	return err
}
