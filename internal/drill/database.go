package drill

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/ledger"
	"sluice/internal/load"
	"sluice/internal/pgchild"
)

// caughtUpFor is how long the recorder may take to write what it missed.
const caughtUpFor = 15 * time.Second

// postgres is a private server of the drill's, which can be taken away.
type postgres struct {
	url   string
	stop  context.CancelFunc
	ended chan error
}

// startPostgres starts a server on dir. Its URL is the same each time.
func startPostgres(ctx context.Context, dir string) (*postgres, error) {
	server, err := pgchild.Open(ctx, pgchild.Config{Dir: dir, Log: zerolog.Nop()})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &postgres{url: server.URL(), stop: cancel, ended: make(chan error, 1)}
	go func() { p.ended <- server.Run(ctx) }()
	return p, nil
}

func (p *postgres) close() error {
	p.stop()
	return <-p.ended
}

// dbDown takes the database away and gives it back.
func dbDown(ctx context.Context, d *drill) error {
	dir, err := d.subdir("pg")
	if err != nil {
		return err
	}
	pg, err := startPostgres(ctx, dir)
	if err != nil {
		return err
	}
	d.own(func() {
		if pg != nil {
			_ = pg.close() // the drill is over
		}
	})
	one, err := d.startSolo(ctx, accounts(), setting{}, "SLUICE_DATABASE_URL="+pg.url)
	if err != nil {
		return err
	}
	if err := d.database(ctx, one, "ready"); err != nil {
		return err
	}
	d.begin("all is well")
	const first = 4 * time.Second
	gone := d.long(6 * time.Second)
	over := first + gone + 6*time.Second
	chat, err := d.load(ctx, target(one.base, one.tenants), d.chatFor(over))
	if err != nil {
		return err
	}
	from, err := d.at(ctx, first, "the database is gone")
	if err != nil {
		return err
	}
	stopped := pg
	pg = nil
	if err := stopped.close(); err != nil {
		d.note("stop of the database: %v", err)
	}
	if err := d.database(ctx, one, "away"); err != nil {
		return err
	}
	status, _, err := one.readiness(ctx, "database")
	if err != nil {
		return err
	}
	d.check("/readyz while it is gone", "200", fmt.Sprint(status), status == http.StatusOK)
	to, err := d.at(ctx, first+gone, "the database comes back")
	if err != nil {
		return err
	}
	if pg, err = startPostgres(ctx, dir); err != nil {
		return err
	}
	if pg.url != stopped.url {
		return errors.New("the database came back at another address")
	}
	back := time.Now()
	p := wait(chat)
	d.keeps(promise{}, p)
	d.spared(p, from, to)
	if err := d.recorded(ctx, pg.url, one.tenants, p, back); err != nil {
		return err
	}
	d.shows(p)
	return nil
}

// database waits until /readyz says that of the database.
func (d *drill) database(ctx context.Context, one *solo, state string) error {
	var got string
	for end := time.Now().Add(readyFor); time.Now().Before(end); {
		var err error
		if _, got, err = one.readiness(ctx, "database"); err == nil && got == state {
			return nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("the database is %q for /readyz after %s, want %q", got, readyFor, state)
}

// spared checks that the customers did not notice.
func (d *drill) spared(p played, from, to time.Time) {
	var before, meanwhile []load.Outcome
	for _, o := range p.all {
		switch {
		case o.AcceptedAt.Before(from):
			before = append(before, o)
		case o.AcceptedAt.Before(to):
			meanwhile = append(meanwhile, o)
		}
	}
	refused := 0
	for _, n := range p.report.Refused {
		refused += n
	}
	d.none("messages refused", refused)
	d.share("answered by a vendor while it is gone", 1, answered(meanwhile), len(meanwhile))
	bound := waitP95(before) + 50*time.Millisecond
	d.atMost("p95 wait while it is gone: as before + 50 ms", bound, waitP95(meanwhile))
}

// recorded checks that the ledger has every ended ticket soon.
func (d *drill) recorded(ctx context.Context, url string, of []tenant, p played, back time.Time) error {
	d.say("the recorder catches up")
	book, err := ledger.Open(ctx, ledger.Config{URL: url, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer book.Close()
	missing := 0
	var at time.Duration
	for end := time.Now().Add(caughtUpFor); ; {
		if missing, err = missingIn(ctx, book, of, p.all); err == nil && missing == 0 {
			at = time.Since(back)
			break
		}
		if time.Now().After(end) {
			break
		}
		if err := sleep(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	d.none("ended tickets that the ledger does not have in the end", missing)
	if missing == 0 {
		d.note("the ledger was seen complete after %s", short(at))
	}
	return nil
}

func missingIn(ctx context.Context, book *ledger.Ledger, of []tenant, all []load.Outcome) (n int, err error) {
	for _, o := range all {
		if o.EndedAt.IsZero() {
			continue
		}
		row, err := book.Ticket(ctx, of[o.Tenant].Name, o.Ticket)
		switch {
		case errors.Is(err, ledger.ErrNotFound):
			n++
		case err != nil:
			return 0, err
		case row.Status != string(o.Status):
			n++
		}
	}
	return n, nil
}
