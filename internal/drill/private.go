package drill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sluice/internal/chat"
	"sluice/internal/load"
	"sluice/internal/sim"
)

// Private is an instance for a load of sockets: one process without a database, whose rules
// leave room for them, and a simulated vendor in this process that has room for their
// messages. Stop must follow.
type Private struct {
	// Target is where the sockets are opened.
	Target load.SocketTarget

	dir      string
	instance *instance
	hangUp   func() error // ends the vendor
}

// The private vendor's account. Its calls take as long as those of a quick model.
const (
	privateQuota = 800
	privateFirst = 100 * time.Millisecond
	privateCall  = 400 * time.Millisecond
)

// calmFor is the longest wait for the instance to have warmed up and learnt.
const calmFor = 20 * time.Second

// privateRules have everything but the sockets as it ships, or so wide that it does not
// matter: the sockets' number, the vendor's address, its quota.
const privateRules = `
sockets: {max: 20000, per_tenant: 20000}
lanes:
  high:   {bound: 20000, elastic: true}
  normal: {bound: 20000}
  low:    {bound: 20000}
intake:
  tenant: {qps: 100000, burst: 100000}
  tighten: {at: 1, until: 1, factor: 1}
vendors:
  - name: a
    endpoints: [{url: %q}]
    models: {strong: model-l, light: model-s}
    quota: %d
`

// StartPrivate starts the instance, with a number of tenants, as children of this process.
// binary is this program.
func StartPrivate(ctx context.Context, binary string, tenants int, seed uint64) (_ *Private, err error) {
	p := &Private{hangUp: func() error { return nil }, Target: load.SocketTarget{Origin: origin}}
	if p.dir, err = os.MkdirTemp("", "sluice-load-"); err != nil {
		return nil, fmt.Errorf("make the instance's directory: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Stop())
		}
	}()
	url, err := p.serveVendor(ctx, seed)
	if err != nil {
		return nil, err
	}
	file, err := writeRules(p.dir, fmt.Sprintf(privateRules, url, privateQuota))
	if err != nil {
		return nil, err
	}
	p.instance, err = launch("the instance", binary, filepath.Join(p.dir, "d"), "SLUICE_RULES="+file, "SLUICE_ADMIN_PASSWORD="+adminPassword)
	if err != nil {
		return nil, err
	}
	if err := p.instance.ready(ctx); err != nil {
		return nil, err
	}
	p.Target.BaseURL = p.instance.base
	for n := range tenants {
		t, err := p.instance.addTenant(ctx, fmt.Sprintf("load-%d", n+1), chat.High)
		if err != nil {
			return nil, err
		}
		p.Target.Keys = append(p.Target.Keys, t.Publishable)
	}
	load.Calm(ctx, p.Target.BaseURL, calmFor)
	return p, ctx.Err()
}

// serveVendor starts the vendor and returns the address of its interface.
func (p *Private) serveVendor(ctx context.Context, seed uint64) (url string, err error) {
	server, err := sim.Listen(ctx, "", []sim.Config{{Name: "a", Quota: privateQuota, Seed: seed, Behaviour: sim.Behaviour{
		FirstToken: sim.Fixed(privateFirst), Call: sim.Fixed(privateCall),
	}}})
	if err != nil {
		return "", fmt.Errorf("simulated vendor: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	p.hangUp = func() error {
		cancel()
		return <-ended
	}
	return server.URL("a"), nil
}

// Stop ends all that StartPrivate started, and removes what it kept.
func (p *Private) Stop() (err error) {
	if p.instance != nil {
		err = p.instance.stop()
	}
	return errors.Join(err, p.hangUp(), os.RemoveAll(p.dir))
}
