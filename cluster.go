package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/metrics"
	"sluice/internal/pulse"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// rulesTry is the longest that one look for the rules may take.
const rulesTry = 2 * time.Second

// openMember opens one process of a cluster: NATS, the database and the vendors are
// others' business, and may come later than this process.
func openMember(ctx context.Context, s settings) (_ *node, err error) {
	n := &node{settings: s, log: s.logger(), metrics: metrics.New(), tally: pulse.NewTally()}
	n.waits = &waits{log: n.log}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if n.roles, err = parseRoles(s.Roles); err != nil {
		return nil, err
	}
	if s.Rules != "" {
		if err := checkRulesFile(s.Rules); err != nil {
			return nil, err
		}
	}
	if err := n.listenMember(ctx); err != nil {
		return nil, err
	}
	back := n.meanwhile(ctx)
	defer back()
	if n.engine, err = joinEngine(ctx, s, n.waits, n.log); err != nil {
		return nil, err
	}
	return n, n.openRoles(ctx)
}

// openRoles opens what the roles of the process need.
func (n *node) openRoles(ctx context.Context) (err error) {
	if err := n.openSteering(fitMember(n.roles.dispatcher)); err != nil {
		return err
	}
	if n.roles.dispatcher {
		if n.fleet, err = openRemoteFleet(n.engine.rules, os.Getenv); err != nil {
			return err
		}
		n.fleet.metrics, n.fleet.tally = n.metrics, n.tally
	}
	if n.roles.dispatcher || n.roles.api {
		if n.line, err = newLine(n.engine.queue, n.live, n.fleet, false, n.lanes.State, n.log); err != nil {
			return err
		}
	}
	if n.roles.database() {
		n.database = newDatabase(n.settings, "", n.log)
	}
	if !n.roles.api {
		return nil
	}
	// Several nodes cannot each generate a password: here it is given, or there is none.
	if password := n.settings.AdminPassword; password != "" {
		if err := openAdmin(ctx, n.engine.queue, password, &n.secrets); err != nil {
			return fmt.Errorf("operator %s: %w", firstAdmin, err)
		}
	}
	return n.openAPI()
}

// listenMember binds the HTTP port, and the command socket where there is an API. The
// directory of the socket has no lock: nothing else is stored in it.
func (n *node) listenMember(ctx context.Context) error {
	if err := n.listenHTTP(ctx); err != nil || !n.roles.api {
		return err
	}
	if err := os.MkdirAll(n.settings.Data, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	var d net.Dialer
	if conn, err := d.DialContext(ctx, "unix", n.settings.socket()); err == nil {
		_ = conn.Close()
		return fmt.Errorf("data directory %s is in use by another sluice: choose another with --data", n.settings.Data)
	}
	var err error
	n.local, err = listenLocal(ctx, n.settings.socket())
	return err
}

func checkRulesFile(file string) error {
	name, doc, err := readRules(file)
	if err != nil {
		return err
	}
	_, err = rules.Parse(name, doc)
	return err
}

// joinEngine connects to the NATS cluster and opens streams and buckets there. It waits
// for servers, for as many of them as there are replicas, and for the first rules.
func joinEngine(ctx context.Context, s settings, w *waits, log zerolog.Logger) (_ *engine, err error) {
	e := &engine{remote: true}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	log = log.With().Str("stage", "queue").Logger()
	cfg := queue.RemoteConfig{URL: s.NATSURL, Creds: s.NATSCreds, CA: s.NATSCA, Log: log}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("SLUICE_NATS_URL: %w", err)
	}
	err = w.until(ctx, "nats", func(ctx context.Context) (err error) {
		e.nc, err = queue.Connect(ctx, cfg)
		return s.explain(err)
	})
	if err != nil {
		return nil, err
	}
	err = w.until(ctx, "rules", func(ctx context.Context) (err error) {
		// A cluster without a leader answers nothing at all: ask again soon.
		ctx, cancel := context.WithTimeout(ctx, rulesTry)
		defer cancel()
		e.rules, err = e.joinRules(ctx, s.Rules)
		return e.blame(err)
	})
	if err != nil {
		return nil, err
	}
	return e, w.until(ctx, "streams", e.openStreams(log))
}

// openStreams returns one try to open streams and buckets to the measure of the rules.
func (e *engine) openStreams(log zerolog.Logger) func(context.Context) error {
	var opening *queue.Opening
	return func(ctx context.Context) error {
		if opening == nil {
			store, err := queue.FindRules(ctx, e.nc)
			if err != nil {
				return e.blame(err)
			}
			opening = store.Opening()
		}
		return e.blame(opening.Do(ctx, func() (err error) {
			e.queue, err = queue.Open(ctx, e.nc, queue.Config{
				Bounds: bounds(e.rules), Replicas: e.rules.Replicas, KeepEvents: e.rules.Retention.Events, Log: log,
			})
			return err
		}))
	}
}

// joinRules returns the cluster's rules. The first ones come from a process that names
// a file; the others wait for it. They never come from the shipped document: that
// describes one machine.
func (e *engine) joinRules(ctx context.Context, file string) (*rules.Rules, error) {
	store, err := queue.FindRules(ctx, e.nc)
	if err == nil {
		var doc []byte
		if doc, e.rev, err = store.Load(ctx); err == nil {
			r, err := rules.Parse("stored rules", doc)
			if err != nil {
				return nil, errNever{err}
			}
			e.store = store
			return r, nil
		}
	}
	if !errors.Is(err, queue.ErrNotFound) {
		return nil, err
	}
	if file == "" {
		return nil, errors.New("none are stored yet: start one process with SLUICE_RULES")
	}
	name, doc, err := readRules(file)
	if err != nil {
		return nil, errNever{err}
	}
	r, err := rules.Parse(name, doc)
	if err != nil {
		return nil, errNever{err}
	}
	if store, err = queue.OpenRules(ctx, e.nc, r.Replicas); err != nil {
		return nil, err
	}
	// Lost to another process's first rules: the next try reads those.
	if e.rev, err = store.Store(ctx, doc, 0); err != nil {
		return nil, err
	}
	e.store = store
	return r, nil
}
