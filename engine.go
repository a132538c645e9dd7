package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/queue"
	"sluice/internal/rules"
)

// engine is NATS with everything that Sluice keeps in it: the embedded server, or a
// cluster.
type engine struct {
	server *queue.Server // nil: a cluster
	remote bool
	nc     *nats.Conn
	queue  *queue.Queue
	store  *queue.RuleStore
	rules  *rules.Rules // as the process started with them
	rev    uint64       // their revision
}

// flushLimit is how long the last words to a cluster may take.
const flushLimit = 2 * time.Second

// openEngine starts the server on the data directory and opens streams and buckets to
// the measure of the rules. It reads a rules file only when none is stored yet.
func openEngine(ctx context.Context, dir *dataDir, rulesFile string, log zerolog.Logger) (_ *engine, err error) {
	e := &engine{}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if e.server, err = queue.StartServer(ctx, queue.ServerConfig{Dir: dir.nats()}); err != nil {
		return nil, err
	}
	if e.nc, err = e.server.Dial(); err != nil {
		return nil, err
	}
	if e.store, err = queue.OpenRules(ctx, e.nc, 1); err != nil {
		return nil, err
	}
	if e.rules, e.rev, err = loadRules(ctx, e.store, rulesFile); err != nil {
		return nil, err
	}
	e.queue, err = queue.Open(ctx, e.nc, queue.Config{
		Bounds: bounds(e.rules), MaxStore: queue.DefaultMaxStore, KeepEvents: e.rules.Retention.Events, Fresh: true,
		Log: log.With().Str("stage", "queue").Logger(),
	})
	return e, err
}

// loadRules returns the stored rules and their revision, or stores the first ones: the
// file's, or the shipped.
func loadRules(ctx context.Context, store *queue.RuleStore, file string) (*rules.Rules, uint64, error) {
	doc, rev, err := store.Load(ctx)
	if err == nil {
		r, err := rules.Parse("stored rules", doc)
		return r, rev, err
	}
	if !errors.Is(err, queue.ErrNotFound) {
		return nil, 0, err
	}
	name, doc, err := readRules(file)
	if err != nil {
		return nil, 0, err
	}
	r, err := rules.Parse(name, doc)
	if err != nil {
		return nil, 0, err
	}
	rev, err = store.Store(ctx, doc, 0)
	return r, rev, err
}

// readRules returns the rules file, or the shipped document when none is named.
func readRules(file string) (name string, doc []byte, err error) {
	if file == "" {
		return "shipped rules", rules.Default(), nil
	}
	doc, err = os.ReadFile(file)
	if err != nil {
		return file, nil, fmt.Errorf("read rules: %w", err)
	}
	return file, doc, nil
}

// close ends the connection and shuts the server down, if they were opened.
func (e *engine) close() {
	if e.nc != nil {
		if e.remote && e.nc.IsConnected() {
			// What was handed back last must not wait for its AckWait.
			_ = e.nc.FlushTimeout(flushLimit)
		}
		e.nc.Close()
	}
	if e.server != nil {
		e.server.Stop()
	}
}
