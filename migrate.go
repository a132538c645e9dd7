package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/internal/ledger"
	"sluice/internal/pgchild"
)

// migrateCmd brings the database up to date and ends.
type migrateCmd struct{ settings }

// Run migrates the database that the settings name, or the private child's.
func (c *migrateCmd) Run(ctx context.Context, out io.Writer) (err error) {
	url, log := c.DatabaseURL, c.logger()
	if url == "" {
		dir, err := openDataDir(c.Data)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, dir.close()) }()
		server, err := pgchild.Open(ctx, pgchild.Config{Dir: dir.postgres(), Log: log})
		if err != nil {
			return err
		}
		serving, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- server.Run(serving) }()
		defer func() { stop(); err = errors.Join(err, <-ended) }()
		url = server.URL()
	}
	book, err := ledger.Open(ctx, ledger.Config{URL: url, Log: log})
	if err != nil {
		return err
	}
	defer book.Close()
	if err := book.Migrate(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "the database is up to date")
	return err
}
