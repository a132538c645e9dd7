package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"sluice/internal/drill"
	"sluice/internal/load"
)

// socketsCmd opens many sockets and talks through them.
type socketsCmd struct {
	where
	Running bool          `help:"Use the instance that runs on the data directory, in place of a private one."`
	Sockets int           `help:"How many sockets are open at once." default:"10000"`
	Opens   int           `help:"How many are opened a second." default:"250"`
	Every   time.Duration `help:"Time between two messages of a socket, a fifth more or less." default:"30s"`
	For     time.Duration `help:"How long messages are sent." default:"2m"`
	Rest    time.Duration `help:"How long the sockets are idle before." default:"10s"`
	Timeout time.Duration `help:"How long the last answers may take." default:"2m"`
	Tenants int           `help:"How many tenants they belong to." default:"4"`
	Seed    uint64        `help:"Makes messages and their moments repeatable." default:"1"`
	JSON    string        `name:"json" help:"Write the report to a file, as JSON." type:"path"`
	HTML    string        `name:"html" help:"Write the report to a file, as a page with charts." type:"path"`
}

// errSockets says that the report shows a fault.
var errSockets = errors.New("the load of sockets found faults: see the verdict")

// loadOrigin is the page that sockets of a load are opened from.
const loadOrigin = "https://load.example"

// Run plays the load and shows its table. A fault in the verdict is an error.
func (c *socketsCmd) Run(ctx context.Context, out io.Writer) (err error) {
	cfg := load.SocketsConfig{
		Sockets: c.Sockets, Opens: c.Opens, Every: c.Every, For: c.For, Rest: c.Rest, Timeout: c.Timeout, Seed: c.Seed,
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	target, stop, err := c.target(ctx)
	if err != nil {
		return err
	}
	found, err := load.Sockets(ctx, target, cfg, progress())
	err = errors.Join(err, stop())
	if found == nil {
		return err
	}
	err = errors.Join(err, found.Table(out), writeReport(c.JSON, found.JSON), writeReport(c.HTML, found.HTML))
	if err == nil && !found.OK() {
		err = errSockets
	}
	return err
}

// target returns where the sockets are opened: in a private instance, which stop ends, or
// in the running one.
func (c *socketsCmd) target(ctx context.Context) (t load.SocketTarget, stop func() error, err error) {
	if err := checkTenants(c.Tenants); err != nil {
		return t, nil, err
	}
	if !c.Running {
		binary, err := os.Executable()
		if err != nil {
			return t, nil, fmt.Errorf("find this program: %w", err)
		}
		private, err := drill.StartPrivate(ctx, binary, c.Tenants, c.Seed)
		if err != nil {
			return t, nil, err
		}
		return private.Target, private.Stop, nil
	}
	var i instance
	if err := c.call(ctx, http.MethodGet, "/instance", nil, &i); err != nil {
		return t, nil, err
	}
	keys, err := c.loadTenants(ctx, "load-page", c.Tenants, loadOrigin)
	if err != nil {
		return t, nil, err
	}
	t = load.SocketTarget{BaseURL: i.BaseURL, Origin: loadOrigin}
	for _, k := range keys {
		t.Keys = append(t.Keys, k.Publishable)
	}
	return t, func() error { return nil }, nil
}
