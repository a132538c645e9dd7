package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mattn/go-isatty"

	"sluice/api"
	"sluice/internal/load"
)

// loadCmd puts bounded load on a running instance.
type loadCmd struct {
	Burst burstCmd `cmd:"" help:"Many tickets at once, from several tenants with a mix of lanes."`
}

type burstCmd struct {
	where
	Tickets int           `help:"How many tickets." default:"2000"`
	Over    time.Duration `help:"The time that they are spread over; 0: at once." default:"10s"`
	Tenants int           `help:"How many tenants send them." default:"4"`
	MaxWait time.Duration `name:"max-wait" help:"max_wait of each ticket; 0: the lane's own."`
	Cancel  float64       `help:"Share of the tickets that is cancelled." default:"0"`
	Timeout time.Duration `help:"How long the last answers may take." default:"2m"`
	Seed    uint64        `help:"Makes messages, lanes and sessions repeatable." default:"1"`
	JSON    string        `name:"json" help:"Write the report to a file, as JSON." type:"path"`
	HTML    string        `name:"html" help:"Write the report to a file, as a page with charts." type:"path"`
}

// errVerdict says that the report shows a fault.
var errVerdict = errors.New("the burst found faults: see the verdict")

// Run plays the burst and shows its table. A fault in the verdict is an error.
func (c *burstCmd) Run(ctx context.Context, out io.Writer) error {
	target, err := c.target(ctx)
	if err != nil {
		return err
	}
	cfg := load.BurstConfig{
		Tickets: c.Tickets, Over: c.Over, MaxWait: c.MaxWait, CancelShare: c.Cancel, Timeout: c.Timeout, Seed: c.Seed,
	}
	report, err := load.Burst(ctx, target, cfg, load.Progress{Out: os.Stderr, Terminal: isatty.IsTerminal(os.Stderr.Fd())})
	if report == nil {
		return err
	}
	err = errors.Join(err, report.Table(out), writeReport(c.JSON, report.JSON), writeReport(c.HTML, report.HTML))
	if err == nil && !report.OK() {
		err = errVerdict
	}
	return err
}

// target asks the running instance where it is, and for the keys of the load tenants.
func (c *burstCmd) target(ctx context.Context) (load.Target, error) {
	var i instance
	if err := c.call(ctx, http.MethodGet, "/instance", nil, &i); err != nil {
		return load.Target{}, err
	}
	if c.Tenants < 1 || c.Tenants > 100 {
		return load.Target{}, fmt.Errorf("--tenants must be 1 to 100, is %d", c.Tenants)
	}
	t := load.Target{BaseURL: i.BaseURL, Control: i.Control, Limits: i.Limits, Quotas: i.Quotas}
	var there []api.TenantInfo
	if err := c.call(ctx, http.MethodGet, "/tenants", nil, &there); err != nil {
		return load.Target{}, err
	}
	known := map[string]bool{}
	for _, info := range there {
		known[info.Name] = true
	}
	for n := range c.Tenants {
		keys, err := c.tenant(ctx, fmt.Sprintf("load-%d", n+1), known)
		if err != nil {
			return load.Target{}, err
		}
		t.Keys = append(t.Keys, keys.Secret)
	}
	return t, nil
}

// tenant adds a load tenant, or renews the keys of one that an earlier run added.
func (c *burstCmd) tenant(ctx context.Context, name string, known map[string]bool) (keys api.TenantKeys, err error) {
	if known[name] {
		err = c.call(ctx, http.MethodPost, "/tenants/"+name+"/keys", nil, &keys)
		return keys, err
	}
	err = c.call(ctx, http.MethodPost, "/tenants", map[string]string{"name": name, "lane": "high"}, &keys)
	return keys, err
}

// writeReport writes a report to a file, if one is named.
func writeReport(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return errors.Join(write(f), f.Close())
}
