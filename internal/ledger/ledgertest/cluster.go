package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"sluice/internal/ledger"
	"sluice/internal/pgchild"
)

const (
	template   = "sluice_template"
	prefix     = "sluice-lt-"     // of the temporary directories; short, a socket lives in them
	startFor   = 6 * time.Minute  // a slow line may have to bring the server first
	strangerBy = 10 * time.Minute // an unlocked directory older than that belongs to no process
)

// cluster is one private server in a temporary directory.
type cluster struct {
	dir     string
	lock    *flock.Flock
	server  *pgchild.Server
	base    *url.URL
	cancel  context.CancelFunc
	ended   chan error // gets Run's result
	created atomic.Int64
	fault   error // why there is no server
}

func start(major int) *cluster {
	c := &cluster{}
	ctx, cancel := context.WithTimeout(context.Background(), startFor)
	defer cancel()
	if c.fault = c.start(ctx, major); c.fault != nil {
		c.fault = errors.Join(c.fault, c.stop())
	}
	return c
}

func (c *cluster) start(ctx context.Context, major int) error {
	removeAbandoned()
	var err error
	if c.dir, err = os.MkdirTemp("", prefix); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	// Passable, so that a root without user namespaces can hand the server to another account.
	if err := os.Chmod(c.dir, 0o711); err != nil {
		return fmt.Errorf("open directory: %w", err)
	}
	c.lock = flock.New(filepath.Join(c.dir, "lock"))
	if err := c.lock.Lock(); err != nil {
		return fmt.Errorf("lock directory: %w", err)
	}
	c.server, err = pgchild.Open(ctx, pgchild.Config{Dir: c.dir, Major: major, Unsafe: true, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.Background())
	c.cancel, c.ended = cancel, make(chan error, 1)
	go func() { c.ended <- c.server.Run(running) }()
	if c.base, err = url.Parse(c.server.URL()); err != nil {
		return fmt.Errorf("read the server's url: %w", err)
	}
	if err := c.exec(ctx, "create database "+template); err != nil {
		return err
	}
	l, err := ledger.Open(ctx, ledger.Config{URL: c.url(template), Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer l.Close()
	return l.Migrate(ctx)
}

// stop ends the server, if it runs, and removes its files.
func (c *cluster) stop() error {
	var err error
	if c.cancel != nil {
		c.cancel()
		err = <-c.ended
	}
	if c.dir != "" {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	if c.lock != nil {
		err = errors.Join(err, c.lock.Close())
	}
	return err
}

// create copies the migrated database.
func (c *cluster) create(ctx context.Context) (url, name string, err error) {
	name = fmt.Sprintf("test_%d", c.created.Add(1))
	if err := c.exec(ctx, "create database "+name+" template "+template); err != nil {
		return "", "", err
	}
	return c.url(name), name, nil
}

func (c *cluster) drop(ctx context.Context, name string) error {
	return c.exec(ctx, "drop database if exists "+name+" with (force)")
}

func (c *cluster) exec(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, c.server.URL())
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// url is that of another database on the server.
func (c *cluster) url(name string) string {
	u := *c.base
	u.Path = "/" + name
	return u.String()
}

// removeAbandoned removes what test processes left that were killed or had no Main. Their lock went with them.
func removeAbandoned() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // fails on a bad pattern only
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < strangerBy {
			continue
		}
		lock := flock.New(filepath.Join(dir, "lock"))
		if locked, err := lock.TryLock(); err == nil && locked {
			_ = os.RemoveAll(dir) // another user's, at worst: then it stays
		}
		_ = lock.Close()
	}
}
