package drill

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"sluice/internal/chat"
	"sluice/internal/load"
	"sluice/internal/report"
)

// The steady chat: a third of what all vendors can take, so that two of them can carry it.
const chatRate = 15 // messages a second

// anySession spreads messages so thinly that hardly two share a session: whose turn it is
// within one is no matter of these drills.
const anySession = 1_000_000

// solo is a private instance in one process, with vendors and tenants.
type solo struct {
	*instance
	tenants []tenant
}

// startVendors makes the drill's simulated vendors.
func (d *drill) startVendors(ctx context.Context, of []account) error {
	vs, err := startVendors(ctx, of, d.cfg.Seed)
	if err != nil {
		return err
	}
	d.vendors = vs
	d.own(vs.stop)
	d.out.Setup = fmt.Sprintf("%d permits in all; calls of %s on average, time at 1/%d", permitsOf(of), callMean, Scale)
	for _, v := range vs.all {
		d.out.Setup += fmt.Sprintf("; %s: %d of %d", v.name, v.permits, v.quota)
	}
	return nil
}

// startSolo starts vendors, an instance on them and three tenants.
func (d *drill) startSolo(ctx context.Context, of []account, s setting, env ...string) (*solo, error) {
	if err := d.startVendors(ctx, of); err != nil {
		return nil, err
	}
	dir, err := d.subdir("solo")
	if err != nil {
		return nil, err
	}
	file, err := writeRules(dir, writtenRules(d.vendors.all, s))
	if err != nil {
		return nil, err
	}
	i, err := launch("the instance", d.cfg.Binary, filepath.Join(dir, "d"), append([]string{
		"SLUICE_RULES=" + file, "SLUICE_ADMIN_PASSWORD=" + adminPassword,
	}, env...)...)
	if err != nil {
		return nil, err
	}
	d.own(func() {
		if err := i.stop(); err != nil {
			d.note("%v", err)
		}
		d.note("the instance took %s of processor time", i.cpu().Round(10*time.Millisecond))
	})
	if err := i.ready(ctx); err != nil {
		return nil, err
	}
	one := &solo{instance: i}
	if one.tenants, err = i.addTenants(ctx); err != nil {
		return nil, err
	}
	return one, d.settle(ctx)
}

// adminPassword is of the private instance's operator.
const adminPassword = "drill-password"

// addTenants adds three tenants that may use all lanes.
func (i *instance) addTenants(ctx context.Context) (all []tenant, err error) {
	for n := range 3 {
		t, err := i.addTenant(ctx, fmt.Sprintf("drill-%d", n+1), chat.High)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// settle lets the warm-up end and empties the vendors' statistics.
func (d *drill) settle(ctx context.Context) error {
	if err := sleep(ctx, 2*time.Second); err != nil {
		return err
	}
	for _, v := range d.vendors.all {
		v.sim.Reset()
	}
	return nil
}

// target is where the load goes.
func target(base string, tenants []tenant) load.Target {
	t := load.Target{BaseURL: base}
	for _, tenant := range tenants {
		t.Keys = append(t.Keys, tenant.Secret)
	}
	return t
}

// played is what became of a load.
type played struct {
	report *load.Report
	all    []load.Outcome
}

// load begins a load beside what the drill does. If the drill ends first, so does the load.
func (d *drill) load(ctx context.Context, to load.Target, cfg load.BurstConfig) (*load.Running, error) {
	running, err := load.Begin(ctx, to, cfg, report.Progress{})
	if err == nil {
		d.own(func() { running.Wait() })
	}
	return running, err
}

// wait returns when the last message of a load has ended and all was checked.
func wait(running *load.Running) (p played) {
	p.report, p.all = running.Wait()
	return p
}

// play plays a load to its end.
func (d *drill) play(ctx context.Context, to load.Target, cfg load.BurstConfig) (played, error) {
	running, err := d.load(ctx, to, cfg)
	if err != nil {
		return played{}, err
	}
	return wait(running), nil
}

// chatFor is a steady chat.
func (d *drill) chatFor(over time.Duration) load.BurstConfig {
	return load.BurstConfig{
		Tickets: int(over.Seconds() * chatRate), Over: over, Sessions: anySession,
		Timeout: 30 * time.Second, Seed: d.cfg.Seed,
	}
}
