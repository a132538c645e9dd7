package drill

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	lameFor     = 500 * time.Millisecond // an api that stops is still served so long
	guests      = 12
	guestPause  = 1500 * time.Millisecond
	rollingFrom = 2 * time.Second // after the beginning of the load
	rollingMost = 4 * time.Minute // nobody waits longer
	stopMost    = 30 * time.Second
)

// rolling replaces every process, one after the other, under load: customers must not notice.
func rolling(ctx context.Context, d *drill) error {
	dir, err := d.subdir("pg")
	if err != nil {
		return err
	}
	pg, err := startPostgres(ctx, dir)
	if err != nil {
		return err
	}
	d.own(func() { _ = pg.close() }) // the drill is over
	c, err := d.startCluster(ctx, 1, 2, "SLUICE_DATABASE_URL="+pg.url, "SLUICE_SHUTDOWN_DELAY="+lameFor.String())
	if err != nil {
		return err
	}
	second, err := c.join(ctx, "api")
	if err != nil {
		return err
	}
	recorder, err := c.join(ctx, "recorder")
	if err != nil {
		return err
	}
	front, err := openEntrance(ctx)
	if err != nil {
		return err
	}
	d.own(front.close)
	front.lead(c.api)
	front.lead(second)

	d.begin("all is well")
	over, rounds := 40*time.Second, 1
	if !d.cfg.Quick {
		over, rounds = 90*time.Second, 2
	}
	chat, err := d.load(ctx, target(front.base, c.tenants), d.chatFor(over))
	if err != nil {
		return err
	}
	stay := d.invite(ctx, front.base, c.tenants, d.begunAt.Add(over))
	if err := sleep(ctx, time.Until(d.begunAt.Add(rollingFrom))); err != nil {
		return err
	}
	// The first dispatcher has the controller in it; what is replaced last is what served
	// while the others went.
	left := []*instance{c.api, c.members[2], recorder, c.members[1], second}
	for range rounds {
		if left, err = c.roll(ctx, front, left); err != nil {
			return err
		}
	}
	rolled := time.Since(d.begunAt)
	p := wait(chat)
	talks := stay()
	d.check("the load went on to the end of the roll", "≥ "+short(rolled), short(over), over >= rolled)
	d.keeps(promise{}, p)
	d.untroubled(p)
	d.welcomed(talks)
	if err := d.recorded(ctx, pg.url, c.tenants, p, time.Now()); err != nil {
		return err
	}
	d.shows(p)
	return nil
}

// roll starts for each process one that takes its place, stops it when that one is ready,
// and returns those that are there now.
func (c *cluster) roll(ctx context.Context, front *entrance, left []*instance) (now []*instance, err error) {
	var slowest time.Duration
	for _, old := range left {
		role, _, _ := strings.Cut(old.name, " ")
		c.d.mark("another "+role, time.Now())
		fresh, err := c.join(ctx, role)
		if err != nil {
			return nil, err
		}
		now = append(now, fresh)
		if role == "api" {
			front.lead(fresh)
		}
		c.d.mark(old.name+" is told to stop", time.Now())
		begun := time.Now()
		if err := old.stop(); err != nil {
			return nil, err
		}
		slowest = max(slowest, time.Since(begun))
		if code := old.cmd.ProcessState.ExitCode(); code != 0 {
			c.d.check(old.name+" ends with exit code", "0", fmt.Sprint(code), false)
		}
	}
	c.d.atMost(fmt.Sprintf("slowest stop of %d processes", len(left)), stopMost, slowest)
	return now, nil
}

// invite has guests on sockets until an instant, and returns what waits for the last to leave.
func (d *drill) invite(ctx context.Context, base string, of []tenant, until time.Time) (stay func() []*guest) {
	ctx, stop := context.WithTimeout(ctx, rollingMost)
	var all []*guest
	var at sync.WaitGroup
	for n := range guests {
		g := newGuest(base, of[n%len(of)], n, guestPause)
		all = append(all, g)
		at.Go(func() { g.stay(ctx, until) })
	}
	d.own(func() { stop(); at.Wait() })
	return func() []*guest { at.Wait(); return all }
}

// untroubled checks that nobody was told of an error.
func (d *drill) untroubled(p played) {
	refused := 0
	for _, n := range p.report.Refused {
		refused += n
	}
	d.none("messages refused", refused) // the table says why
	d.none("tickets that failed", p.report.Failed)
	d.share("answered by a vendor", 0.9, answered(p.all), len(p.all))
	ends := 0
	for _, o := range p.all {
		if !o.EndedAt.IsZero() {
			ends++
		}
	}
	d.share("messages that were ended", 1, ends, len(p.all))
}

// welcomed checks what the guests on sockets lived through.
func (d *drill) welcomed(all []*guest) {
	var said, lost, twice, sockets, faults int
	for _, g := range all {
		l, t := g.missed()
		said, lost, twice, sockets, faults = said+g.sent, lost+l, twice+t, sockets+g.sockets, faults+len(g.faults)
		for _, f := range g.faults {
			d.note("%s", f)
		}
	}
	d.check("messages on sockets", "> 0", fmt.Sprint(said), said > 0)
	d.none("of them not stored, or without an end", lost)
	d.none("of them stored or ended more than once", twice)
	d.none("errors, gaps and cuts that the sockets saw", faults)
	d.check("each guest was sent elsewhere at least once", fmt.Sprintf("> %d sockets", len(all)), fmt.Sprint(sockets), sockets > len(all))
}
