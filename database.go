package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/ledger"
	"sluice/internal/pgchild"
	"sluice/internal/queue"
)

// migratePause is how long a database that cannot be migrated is left alone.
const migratePause = 2 * time.Second

// errAway says that there is no ledger to look into now.
var errAway = errors.New("the database is away")

// database is the ledger's home: a private PostgreSQL child, or the server that the
// settings name. It may be away for as long as it likes; only history needs it.
type database struct {
	url   string // empty: the private child
	dir   string
	log   zerolog.Logger
	book  atomic.Pointer[ledger.Ledger]
	state atomic.Value // string, for /readyz
}

func newDatabase(s settings, dir string, log zerolog.Logger) *database {
	d := &database{url: s.DatabaseURL, dir: dir, log: log.With().Str("stage", "database").Logger()}
	d.state.Store("starting")
	return d
}

// ledger returns the ledger, or nil while there is none.
func (d *database) ledger() *ledger.Ledger { return d.book.Load() }

// run brings the database up and keeps it until ctx ends. It fails only on settings
// that can never work.
func (d *database) run(ctx context.Context) error {
	url := d.url
	var child sync.WaitGroup
	defer child.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if url == "" {
		server, err := pgchild.Open(ctx, pgchild.Config{Dir: d.dir, Log: d.log})
		if err != nil {
			return d.without(ctx, err)
		}
		url = server.URL()
		child.Go(func() {
			if err := server.Run(ctx); err != nil {
				d.log.Error().Err(err).Msg("private postgresql")
			}
		})
	}
	book, err := ledger.Open(ctx, ledger.Config{URL: url, Log: d.log})
	if err != nil {
		return fmt.Errorf("SLUICE_DATABASE_URL: %w", err)
	}
	defer book.Close()
	defer d.book.Store(nil)
	d.migrate(ctx, book)
	<-ctx.Done()
	return nil
}

// without goes on with no database: everything but history runs.
func (d *database) without(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		d.state.Store("none to be had")
		d.log.Warn().Err(err).Msg("no database: everything runs but history")
	}
	<-ctx.Done()
	return nil
}

// migrate tries until the schema is there, and then lets the ledger be used.
func (d *database) migrate(ctx context.Context, book *ledger.Ledger) {
	for said := false; ; said = true {
		err := book.Migrate(ctx)
		if err == nil {
			d.book.Store(book)
			d.state.Store("ready")
			d.log.Info().Msg("the ledger is ready")
			return
		}
		if ctx.Err() != nil {
			return
		}
		d.state.Store("away")
		if !said {
			d.log.Warn().Err(err).Msg("the database is away, waiting for it")
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(migratePause):
		}
	}
}

// check tells /readyz how the database is.
func (d *database) check(ctx context.Context) (string, error) {
	book := d.ledger()
	if book == nil {
		return d.state.Load().(string), errAway
	}
	if err := book.Ping(ctx); err != nil {
		return "away", err
	}
	return "ready", nil
}

// Ticket returns an ended ticket as JSON, for the api.
func (d *database) Ticket(ctx context.Context, tenant, id string) (json.RawMessage, error) {
	book := d.ledger()
	if book == nil {
		return nil, errAway
	}
	row, err := book.Ticket(ctx, tenant, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, fmt.Errorf("ticket %s: %w", id, queue.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return withPromise(ctx, book, row)
}

// Events returns a session's events that the engine may have let go, for the api.
func (d *database) Events(ctx context.Context, tenant, session string, after uint64, limit int) ([]chat.Event, error) {
	book := d.ledger()
	if book == nil {
		return nil, errAway
	}
	rows, err := book.Events(ctx, tenant, session, after, limit)
	if err != nil {
		return nil, err
	}
	events := make([]chat.Event, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row.Body, &events[i]); err != nil {
			return nil, fmt.Errorf("decode event %d of session %s: %w", row.Seq, session, err)
		}
	}
	return events, nil
}
