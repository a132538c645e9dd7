package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"sluice/api"
	"sluice/internal/intent"
	"sluice/internal/record"
	"sluice/internal/rules"
)

// serveCmd runs everything in this process.
type serveCmd struct{ settings }

// Run serves until the context ends. What people need to know goes to out.
func (c *serveCmd) Run(ctx context.Context, out io.Writer) error {
	if err := c.validate(); err != nil {
		return err
	}
	n, err := openNode(ctx, c.settings)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer n.close()
	return unlessStopped(ctx, n.pipeline().run(ctx, func() { n.banner(out) }))
}

// unlessStopped forgets an error that a stop in the middle of the start has made: to
// be told to stop is no fault, however early it comes.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// node is one process with all roles: what it opened, and the stages that run on it.
type node struct {
	settings settings
	log      zerolog.Logger
	dir      *dataDir
	engine   *engine
	fleet    *fleet
	line     *line
	database *database
	api      *api.API
	secrets  secrets
	http     net.Listener
	local    net.Listener
	ready    chan struct{} // closed when the api answers
}

// openNode opens everything that a fault can be found in before anything runs.
func openNode(ctx context.Context, s settings) (_ *node, err error) {
	n := &node{settings: s, log: s.logger()}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if err := checkFirstRules(s); err != nil {
		return nil, err
	}
	if n.dir, err = openDataDir(s.Data); err != nil {
		return nil, err
	}
	if n.engine, err = openEngine(ctx, n.dir, s.Rules, n.log); err != nil {
		return nil, err
	}
	var left []string
	if n.engine.rules, left, err = served(n.engine.rules, os.Getenv); err != nil {
		return nil, err
	}
	if len(left) > 0 {
		n.log.Warn().Strs("vendors", left).Msg("vendors without a key are left out")
	}
	if n.secrets, err = openTenancy(ctx, n.engine.queue, s); err != nil {
		return nil, err
	}
	if n.fleet, err = openFleet(ctx, n.engine.rules, os.Getenv); err != nil {
		return nil, err
	}
	if n.line, err = newLine(n.engine.queue, n.engine.rules, n.fleet, n.log); err != nil {
		return nil, err
	}
	n.database = newDatabase(s, n.dir.postgres(), n.log)
	if err = n.openAPI(); err != nil {
		return nil, err
	}
	return n, n.listen(ctx)
}

// checkFirstRules reads the rules file before a first start makes anything, so that a
// fault in it leaves no trace. Later the stored rules govern, and the file is not read.
func checkFirstRules(s settings) error {
	if _, err := os.Stat(filepath.Join(s.Data, "FORMAT")); err == nil {
		return nil
	}
	name, doc, err := readRules(s.Rules)
	if err != nil {
		return err
	}
	_, err = rules.Parse(name, doc)
	return err
}

func (n *node) openAPI() error {
	classifier, err := newClassifier(n.engine.rules)
	if err != nil {
		return err
	}
	n.api, err = api.New(api.Deps{
		Queue: n.engine.queue, Rules: func() *rules.Rules { return n.engine.rules }, Classify: classifier.Classify,
		Line: n.line.control, History: n.database, Checks: n.checks(), Log: n.log,
	}, api.Config{PublicURL: n.settings.PublicURL, DemoTenant: demoTenant})
	return err
}

func newClassifier(r *rules.Rules) (*intent.Classifier, error) {
	classes := make([]intent.Class, len(r.Intents))
	for i, in := range r.Intents {
		classes[i] = intent.Class{Name: in.Name, Urgent: in.Urgent, Patterns: in.Patterns}
	}
	return intent.New(classes)
}

// checks are the dependencies that /readyz tells of. Only the engine is required: a
// message can be accepted while everything else is away.
func (n *node) checks() []api.Check {
	return []api.Check{
		{Name: "nats", Required: true, State: func(ctx context.Context) (string, error) {
			if err := n.engine.queue.Ready(ctx); err != nil {
				return "away", err
			}
			return "ready", nil
		}},
		{Name: "database", State: n.database.check},
		{Name: "controller", State: func(context.Context) (string, error) {
			select {
			case <-n.line.control.Ready():
				return "granting", nil
			default:
				return "starting", errors.New("grants nothing yet")
			}
		}},
	}
}

// listen binds the HTTP port and the command socket.
func (n *node) listen(ctx context.Context) (err error) {
	var lc net.ListenConfig
	if n.http, err = lc.Listen(ctx, "tcp", n.settings.Listen); err != nil {
		return fmt.Errorf("listen on %s: %w (choose another address with --listen)", n.settings.Listen, err)
	}
	n.local, err = listenLocal(ctx, n.settings.socket())
	return err
}

// pipeline returns the stages in the order in which a message travels: they stop in
// this order, each drained before the next, and start in the reverse.
func (n *node) pipeline() pipeline {
	n.ready = make(chan struct{})
	recorder := record.New(n.engine.queue, n.database.ledger, n.engine.rules.Retention.Tickets, n.log)
	stages := []stage{
		{name: "intake", run: func(ctx context.Context) error { <-ctx.Done(); n.api.Drain(); return nil }},
		{name: "dispatcher", run: n.line.dispatcher.Run},
		{name: "controller", run: n.line.control.Run, ready: n.line.control.Ready()},
	}
	if n.fleet.sim != nil {
		stages = append(stages, stage{name: "simulated vendors", run: n.fleet.sim.Run})
	}
	stages = append(stages,
		stage{name: "api", run: func(ctx context.Context) error { return n.api.Run(ctx, n.http) }},
		stage{name: "recorder", run: recorder.Run},
		stage{name: "database", run: n.database.run},
		stage{name: "commands", run: func(ctx context.Context) error { return serveLocal(ctx, n.local, n.commands()) }},
	)
	return pipeline{stages: stages, log: n.log}
}

// close frees what openNode opened, after the stages have ended.
func (n *node) close() {
	for _, l := range []net.Listener{n.http, n.local} {
		if l != nil {
			_ = l.Close() // closed already if its stage ran
		}
	}
	if n.fleet != nil {
		n.fleet.close()
	}
	if n.engine != nil {
		n.engine.close()
	}
	if n.dir != nil {
		if err := n.dir.close(); err != nil {
			n.log.Warn().Err(err).Msg("close the data directory")
		}
	}
}

// serveLocal serves the command socket until ctx ends.
func serveLocal(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve commands: %w", err)
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		_ = server.Close()
	}
	<-served
	return nil
}
