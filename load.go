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
	"sluice/internal/llm"
	"sluice/internal/load"
	"sluice/internal/report"
	"sluice/internal/sim"
)

// loadCmd puts bounded load on a running instance.
type loadCmd struct {
	Burst   burstCmd   `cmd:"" help:"Many tickets at once, from several tenants with a mix of lanes."`
	Sockets socketsCmd `cmd:"" help:"Many chat sockets that talk now and then; the default is a private instance."`
	Ramp    rampCmd    `cmd:"" help:"More and more calls at once against a vendor, to find its limits; the default is a simulated one."`
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
	found, err := load.Burst(ctx, target, cfg, progress())
	if found == nil {
		return err
	}
	err = errors.Join(err, found.Table(out), writeReport(c.JSON, found.JSON), writeReport(c.HTML, found.HTML))
	if err == nil && !found.OK() {
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
	if err := checkTenants(c.Tenants); err != nil {
		return load.Target{}, err
	}
	t := load.Target{BaseURL: i.BaseURL, Control: i.Control, Limits: i.Limits, Quotas: i.Quotas}
	keys, err := c.loadTenants(ctx, "load", c.Tenants)
	if err != nil {
		return load.Target{}, err
	}
	for _, k := range keys {
		t.Keys = append(t.Keys, k.Secret)
	}
	return t, nil
}

func checkTenants(n int) error {
	if n < 1 || n > 100 {
		return fmt.Errorf("--tenants must be 1 to 100, is %d", n)
	}
	return nil
}

// loadTenants returns new keys of the first tenants of a name, and adds those that no
// earlier run added; the pages of origins may open their sockets.
func (w where) loadTenants(ctx context.Context, name string, n int, origins ...string) (all []api.TenantKeys, err error) {
	var there []api.TenantInfo
	if err := w.call(ctx, http.MethodGet, "/tenants", nil, &there); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, info := range there {
		known[info.Name] = true
	}
	for i := range n {
		var keys api.TenantKeys
		name := fmt.Sprintf("%s-%d", name, i+1)
		if known[name] {
			err = w.call(ctx, http.MethodPost, "/tenants/"+name+"/keys", nil, &keys)
		} else {
			err = w.call(ctx, http.MethodPost, "/tenants", map[string]any{"name": name, "lane": "high", "origins": origins}, &keys)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, keys)
	}
	return all, nil
}

// progress is shown on standard error.
func progress() report.Progress {
	return report.Progress{Out: os.Stderr, Terminal: isatty.IsTerminal(os.Stderr.Fd())}
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

// rampCmd finds the limits of a vendor's account.
type rampCmd struct {
	URL    string        `name:"url" help:"Endpoint of the vendor, up to and including the version (empty: a private simulated vendor)."`
	KeyEnv string        `name:"key-env" help:"Environment variable that holds the key."`
	Model  string        `help:"The vendor's name of the model." default:"model-s"`
	Name   string        `help:"Name of the vendor in the proposed rules." default:"a"`
	Max    int           `help:"Most calls at once." default:"200"`
	Calls  int           `name:"budget-calls" help:"Most calls in all." default:"3000"`
	Tokens int           `name:"budget-tokens" help:"Most tokens in all." default:"200000"`
	Step   time.Duration `help:"How long each number of calls is kept up." default:"3s"`
	JSON   string        `name:"json" help:"Write the report to a file, as JSON." type:"path"`
	HTML   string        `name:"html" help:"Write the report to a file, as a page with charts." type:"path"`
}

// errNoKnee says that the report proposes nothing.
var errNoKnee = errors.New("the ramp came to no proposal: see the table")

// Run plays the ramp and shows its table.
func (c *rampCmd) Run(ctx context.Context, out io.Writer) (err error) {
	if c.KeyEnv != "" && os.Getenv(c.KeyEnv) == "" {
		return fmt.Errorf("--key-env: %s is not set", c.KeyEnv)
	}
	if c.URL == "" {
		var stop func() error
		if c.URL, stop, err = simulatedVendor(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	client, err := llm.New(llm.Config{Vendor: c.Name, BaseURL: c.URL, Key: os.Getenv(c.KeyEnv), Model: c.Model, MaxConns: max(c.Max, 1)})
	if err != nil {
		return err
	}
	defer client.Close()
	found, err := load.Ramp(ctx, client, load.Account{Name: c.Name, URL: c.URL, KeyEnv: c.KeyEnv, Model: c.Model},
		load.RampConfig{Max: c.Max, Calls: c.Calls, Tokens: c.Tokens, Step: c.Step}, progress())
	if found == nil {
		return err
	}
	err = errors.Join(err, found.Table(out), writeReport(c.JSON, found.JSON), writeReport(c.HTML, found.HTML))
	if err == nil && !found.OK() {
		err = errNoKnee
	}
	return err
}

// simulatedVendor starts a vendor of a quota of 60 calls on any port.
func simulatedVendor(ctx context.Context) (url string, stop func() error, err error) {
	server, err := sim.Listen(ctx, "", []sim.Config{{Name: "a", Quota: 60, Seed: 1, Behaviour: sim.Behaviour{
		FirstToken: sim.Lognormal(40*time.Millisecond, 72*time.Millisecond),
		Call:       sim.Lognormal(200*time.Millisecond, 300*time.Millisecond),
	}}})
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	return server.URL("a"), func() error {
		cancel()
		return <-ended
	}, nil
}
