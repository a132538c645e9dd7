package pgvector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	pgvpgx "github.com/pgvector/pgvector-go/pgx"
)

// ErrNoExtension says that the database has no pgvector that will do. Its text names the cure.
var ErrNoExtension = errors.New("no pgvector 0.7 or newer: install the server's package for it (such as postgresql-18-pgvector) " +
	"and run CREATE EXTENSION vector in the database as its owner, or unset SLUICE_PGVECTOR_URL")

// ErrAway says that the database was not asked, or gave no answer in time.
var ErrAway = errors.New("pgvector is away")

// errElsewhere says that another process is at work on a shelf.
var errElsewhere = errors.New("another process writes the vectors")

const connectTimeout = 5 * time.Second

// reach is how many candidates a search of the index keeps: twice of what is asked for at
// most, so that few of the nearest are missed.
const reach = 100

// prepare makes what all shelves share. The lock keeps two processes that start at once from
// making the same thing.
const prepare = `select pg_advisory_xact_lock(hashtext('sluice_vectors'));
create schema if not exists sluice_vectors;
create table if not exists sluice_vectors.shelves (
	id         bigint generated always as identity primary key,
	tenant     text not null,
	version    text not null,
	space      text not null,
	dimensions integer not null,
	passages   integer not null,
	written    integer not null default 0,
	ready      boolean not null default false,
	used_at    timestamptz not null default now(),
	unique (tenant, version, space, dimensions)
)`

// Store is the database. All its methods are safe for concurrent use, by any number of
// processes on one database.
type Store struct {
	cfg   Config
	conn  *pgx.ConnConfig
	pool  *pgxpool.Pool
	guard *guard
}

// Open readies a pool that connects when it is first used: a database that is away fails the
// calls that need it, not Open. An attempt to connect gives up after 5 s unless the URL says
// connect_timeout.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.complete()
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("read the url of pgvector: %w", err)
	}
	if pc.ConnConfig.ConnectTimeout == 0 {
		pc.ConnConfig.ConnectTimeout = connectTimeout
	}
	if pc.ConnConfig.RuntimeParams["application_name"] == "" {
		pc.ConnConfig.RuntimeParams["application_name"] = "sluice vectors"
	}
	pc.AfterConnect = readVectors
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open pgvector: %w", err)
	}
	return &Store{cfg: cfg, conn: pc.ConnConfig.Copy(), pool: pool, guard: newGuard(cfg, max(1, int(pc.MaxConns)-1))}, nil
}

// readVectors lets a connection send vectors as numbers, and search with our reach.
func readVectors(ctx context.Context, conn *pgx.Conn) error {
	if err := pgvpgx.RegisterTypes(ctx, conn); err != nil {
		return fmt.Errorf("learn the types of pgvector: %w", err)
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf("set hnsw.ef_search = %d", reach)); err != nil {
		return fmt.Errorf("set the reach of searches: %w", err)
	}
	return nil
}

// Prepare makes the extension, the schema and the list of shelves where they are missing. It
// must have gone well once before the other methods are of use; it may be repeated.
func (s *Store) Prepare(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.conn)
	if err != nil {
		return fmt.Errorf("connect to pgvector: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was left undone
	if err := extend(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, prepare, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("make the list of vectors: %w", err)
	}
	return nil
}

// extend makes the extension, unless somebody who may do so has done it before.
func extend(ctx context.Context, conn *pgx.Conn) error {
	const halves = "select to_regtype('halfvec') is not null"
	var there bool
	if err := conn.QueryRow(ctx, halves).Scan(&there); err != nil || there {
		return err
	}
	if _, err := conn.Exec(ctx, "create extension if not exists vector"); err != nil {
		return fmt.Errorf("%w: %w", ErrNoExtension, err)
	}
	if err := conn.QueryRow(ctx, halves).Scan(&there); err != nil {
		return fmt.Errorf("look for pgvector: %w", err)
	}
	if !there { // older than 0.7, or in a schema that is not on the search path
		return ErrNoExtension
	}
	return nil
}

// Close waits for the calls that run, then closes every connection.
func (s *Store) Close() { s.pool.Close() }
