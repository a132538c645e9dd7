// Package ledger keeps in PostgreSQL what is looked back at: tickets, each in its latest revision, and the events of
// every talk. Nothing that serves a customer now needs it. The recorder writes here what it reads from the stories and
// the talk log; pages and lookups of what has left the engine read here.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/rs/zerolog"

	"sluice/migrations"
)

// ErrNotFound says that the ledger has no such row. The live engine may still have the ticket.
var ErrNotFound = errors.New("not in the ledger")

const connectTimeout = 5 * time.Second

// Config says which database to use. Only URL is required.
type Config struct {
	// URL is a connection string as pgx reads it: postgres://user:password@host/database?options.
	URL string
	// MaxConns bounds the connections of this process. Defaults to 8.
	MaxConns int
	// Log gets a line for each migration.
	Log zerolog.Logger
}

// Validate names the field that cannot be used, and its value. The URL is never shown, it holds a password.
func (c Config) Validate() error {
	if c.URL == "" {
		return errors.New("ledger: URL is empty")
	}
	if c.MaxConns < 0 || c.MaxConns > 10_000 {
		return fmt.Errorf("ledger: MaxConns is %d: give 1 to 10000, or 0 for the default", c.MaxConns)
	}
	return nil
}

// Ledger is the store. All its methods are safe for concurrent use, by any number of processes on one database.
type Ledger struct {
	pool   *pgxpool.Pool
	log    zerolog.Logger
	months months
}

// Open prepares a pool that connects when it is first used: a database that is away fails the calls that need it, not
// Open. An attempt to connect gives up after 5 s unless the URL says connect_timeout.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("read database url: %w", err)
	}
	pc.MaxConns = 8
	if cfg.MaxConns > 0 {
		pc.MaxConns = int32(cfg.MaxConns)
	}
	if pc.ConnConfig.ConnectTimeout == 0 {
		pc.ConnConfig.ConnectTimeout = connectTimeout
	}
	if pc.ConnConfig.RuntimeParams["application_name"] == "" {
		pc.ConnConfig.RuntimeParams["application_name"] = "sluice"
	}
	pc.AfterConnect = readTimesInUTC
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return &Ledger{pool: pool, log: cfg.Log}, nil
}

// Migrate brings the schema up to date. Of any number of processes that call it at once one does the work while the
// others wait, on a lock that the database itself drops with its holder's connection.
func (l *Ledger) Migrate(ctx context.Context) error {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return fmt.Errorf("migrate ledger: %w", err)
	}
	db := stdlib.OpenDBFromPool(l.pool)
	defer func() { _ = db.Close() }() // the pool keeps the connections
	steps, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("migrate ledger: %w", err)
	}
	done, err := steps.Up(ctx)
	for _, step := range done {
		l.log.Info().Int64("step", step.Source.Version).Dur("took_ms", step.Duration).Msg("ledger migrated")
	}
	if err != nil {
		return fmt.Errorf("migrate ledger: %w", err)
	}
	return nil
}

// Ping reports whether the database answers.
func (l *Ledger) Ping(ctx context.Context) error {
	if err := l.pool.Ping(ctx); err != nil {
		return fmt.Errorf("ping ledger: %w", err)
	}
	return nil
}

// Close waits for the calls that run, then closes every connection.
func (l *Ledger) Close() { l.pool.Close() }

func readTimesInUTC(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	return nil
}
