package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"sluice/api"
)

// tenantCmd speaks to a running instance about its tenants.
type tenantCmd struct {
	Add  tenantAddCmd  `cmd:"" help:"Add a tenant and show its keys."`
	List tenantListCmd `cmd:"" help:"List the tenants."`
	Key  tenantKeyCmd  `cmd:"" help:"Give a tenant new keys; the former ones open nothing any more."`

	WebhookSecret tenantHookCmd `cmd:"" help:"Give a tenant a new secret for webhooks; the former one signs beside it for a day."`
}

// where names the instance that a command speaks to.
type where struct {
	Data string `help:"Data directory of the running instance." env:"SLUICE_DATA" default:"./data" type:"path"`
}

func (w where) call(ctx context.Context, method, path string, in, out any) error {
	return settings{Data: w.Data}.call(ctx, method, path, in, out)
}

type tenantAddCmd struct {
	where
	Name string `arg:"" help:"1 to 32 of a-z 0-9 -."`
	Lane string `help:"The best lane that its tickets may use." enum:"high,normal,low" default:"normal"`
	// Repeated for each page.
	Origin []string `help:"Origin of a page that may open sockets with the publishable key, such as https://shop.example."`
}

// Run adds the tenant.
func (c *tenantAddCmd) Run(ctx context.Context, out io.Writer) error {
	var keys api.TenantKeys
	err := c.call(ctx, http.MethodPost, "/tenants", map[string]any{"name": c.Name, "lane": c.Lane, "origins": c.Origin}, &keys)
	if err != nil {
		return err
	}
	return showKeys(out, keys)
}

type tenantKeyCmd struct {
	where
	Name string `arg:"" help:"Of the tenant."`
}

// Run renews the tenant's keys.
func (c *tenantKeyCmd) Run(ctx context.Context, out io.Writer) error {
	var keys api.TenantKeys
	if err := c.call(ctx, http.MethodPost, "/tenants/"+c.Name+"/keys", nil, &keys); err != nil {
		return err
	}
	return showKeys(out, keys)
}

func showKeys(out io.Writer, k api.TenantKeys) error {
	_, err := fmt.Fprintf(out, "tenant          %s (lane %s)\nsecret key      %s\npublishable key %s\nidentity secret %s\nThe secret key is shown this once.\n",
		k.Name, k.Lane, k.Secret, k.Publishable, k.IdentitySecret)
	return err
}

type tenantListCmd struct{ where }

// Run lists the tenants.
func (c *tenantListCmd) Run(ctx context.Context, out io.Writer) error {
	var all []api.TenantInfo
	if err := c.call(ctx, http.MethodGet, "/tenants", nil, &all); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "NAME\tLANE\tORIGINS\tCREATED")
	for _, t := range all {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", t.Name, t.Lane, strings.Join(t.Origins, ","), t.CreatedAt.Format(time.RFC3339))
	}
	return table.Flush()
}
