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
	"sluice/internal/alert"
	"sluice/internal/bell"
	"sluice/internal/metrics"
	"sluice/internal/password"
	"sluice/internal/pulse"
	"sluice/internal/queue"
	"sluice/internal/reading"
	"sluice/internal/record"
	"sluice/internal/trace"
)

// serveCmd runs the roles of this process: all of them, unless the settings say so.
type serveCmd struct{ settings }

// Run serves until the context ends. What people need to know goes to out.
func (c *serveCmd) Run(ctx context.Context, out io.Writer) error {
	if err := c.validate(); err != nil {
		return err
	}
	if c.AdminPassword != "" && password.Check(c.AdminPassword) != "" {
		log := c.logger()
		log.Warn().Int("characters", password.Shortest).Msg("SLUICE_ADMIN_PASSWORD is short: choose one of at least so many characters")
	}
	open := openNode
	if c.clustered() {
		open = openMember
	}
	told, err := trace.Open(ctx, trace.Config{Version: version(), Roles: c.Roles})
	if err != nil {
		return err
	}
	defer closeTrace(told)
	n, err := open(ctx, c.settings)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // told to stop while it waited for the others
	}
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer n.close()
	return unlessStopped(ctx, n.pipeline().run(ctx, func() { n.banner(out) }))
}

// closeTrace sends the spans that are left, for a while.
func closeTrace(send func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), traceTimeout)
	defer cancel()
	_ = send(ctx) // the collector is away: nothing of ours depends on it
}

// traceTimeout is how long a stop waits for the collector.
const traceTimeout = time.Second

// unlessStopped forgets an error that a stop in the middle of the start has made: to
// be told to stop is no fault, however early it comes.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// node is one process: what it opened for its roles, and the stages that run on it.
type node struct {
	settings settings
	roles    roles
	log      zerolog.Logger
	waits    *waits   // nil: embedded, where nothing is waited for
	dir      *dataDir // nil: nothing is stored here
	engine   *engine
	live     *live
	lanes    *queue.Lanes
	fleet    *fleet // nil: not a dispatcher
	line     *line  // nil: only a recorder
	metrics  *metrics.Metrics
	tally    *pulse.Tally
	refusals alert.Tally
	bell     *bell.Bell
	owed     owedCount
	database *database // nil: only a dispatcher
	api      *api.API  // nil: not an api
	secrets  secrets
	http     net.Listener
	local    net.Listener
	ready    chan struct{} // closed when the api answers
}

// openNode opens everything that a fault can be found in before anything runs.
func openNode(ctx context.Context, s settings) (_ *node, err error) {
	n := &node{settings: s, roles: roles{api: true, dispatcher: true, recorder: true}, log: s.logger(), metrics: metrics.New(), tally: pulse.NewTally()}
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
	fit := fitAlone(n.log)
	if n.engine.rules, err = fit(n.engine.rules); err != nil {
		return nil, err
	}
	if err = n.openSteering(fit); err != nil {
		return nil, err
	}
	if n.secrets, err = openTenancy(ctx, n.engine.queue, s); err != nil {
		return nil, err
	}
	if n.fleet, err = openFleet(ctx, n.engine.rules, os.Getenv); err != nil {
		return nil, err
	}
	n.fleet.metrics, n.fleet.tally = n.metrics, n.tally
	if n.line, err = newLine(n.engine.queue, n.live, n.fleet, true, n.lanes.State, n.log); err != nil {
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
	return checkRulesFile(s.Rules)
}

func (n *node) openAPI() (err error) {
	n.api, err = api.New(api.Deps{
		Queue: n.engine.queue, Rules: n.live.rules, Classify: n.live.classify, Read: reading.New().Read, Line: n.line.member, History: n.database, Ratings: n.database,
		Lanes: n.lanes, Store: n.engine.store, Vendors: steered{n.line.member}, Knowledge: n.live.library, FAQ: n.live.faqs.now,
		BatchEnded: n.engine.queue.AnnounceBatch,
		Unfit:      unfit, Trials: n.live.trials.ask, Texts: func() api.TextKeys { return n.live.carriers.keys(n.live.rules()) }, Checks: n.checks(),
		Metrics: n.metrics.Handler(), Refused: n.refused, Board: n.board(), Owed: n.owedNow, Alerts: n.bell, Log: n.log,
	}, api.Config{PublicURL: n.settings.PublicURL, DemoTenant: demoTenant})
	return err
}

// checks are the dependencies that /readyz tells of. Only the engine is required: a
// message can be accepted while everything else is away.
func (n *node) checks() []api.Check {
	checks := []api.Check{
		{Name: "nats", Required: true, State: n.engine.check},
	}
	if n.database != nil {
		checks = append(checks, api.Check{Name: "database", State: n.database.check})
	}
	if n.line != nil {
		checks = append(checks,
			api.Check{Name: "controller", State: n.line.check},
			api.Check{Name: "vendors", State: checkBreakers(n.line.member, false)},
			api.Check{Name: "tools", State: checkBreakers(n.line.member, true)})
	}
	if n.line != nil && n.line.embeddings != nil {
		checks = append(checks, api.Check{Name: "embeddings", State: n.line.embeddings.check})
	}
	if n.live.shelves != nil {
		checks = append(checks, api.Check{Name: "pgvector", State: n.live.shelves.check})
	}
	if n.live.library != nil {
		checks = append(checks, api.Check{Name: "knowledge", State: n.live.library.check})
	}
	return append(checks, api.Check{Name: "rules", State: n.live.check})
}

// listen binds the HTTP port and the command socket.
func (n *node) listen(ctx context.Context) (err error) {
	if err := n.listenHTTP(ctx); err != nil {
		return err
	}
	n.local, err = listenLocal(ctx, n.settings.socket())
	return err
}

func (n *node) listenHTTP(ctx context.Context) (err error) {
	var lc net.ListenConfig
	if n.http, err = lc.Listen(ctx, "tcp", n.settings.Listen); err != nil {
		return fmt.Errorf("listen on %s: %w (choose another address with --listen)", n.settings.Listen, err)
	}
	return nil
}

// pipeline returns the stages of the roles in the order in which a message travels:
// they stop in this order, each drained before the next, and start in the reverse.
func (n *node) pipeline() pipeline {
	n.ready = make(chan struct{})
	n.metrics.Stand(n.standing)
	n.engine.queue.OnText(n.metrics.Texted)
	n.engine.queue.OnFlow(n.tally.Entered, n.tally.Ended)
	var stages []stage
	if n.roles.api {
		stages = append(stages, stage{name: "intake", run: n.leave})
	}
	if n.fleet != nil {
		h := &heed{live: n.live, lanes: n.lanes, line: n.line, fleet: n.fleet, log: n.log}
		h.hook()
		stages = append(stages, warmer{n.line.member, n.fleet.model, n.log}.stage(n.live),
			drafter{n.engine.queue.FAQ(), n.line.member, n.fleet.model, n.live.rules, n.log}.stage())
	}
	if n.line != nil {
		stages = append(stages, n.line.stages()...)
	}
	if n.fleet != nil && n.fleet.sim != nil {
		stages = append(stages, stage{name: "simulated vendors", run: n.fleet.sim.Run})
	}
	if n.fleet != nil && n.fleet.shop != nil {
		stages = append(stages, stage{name: "demo shop", run: n.fleet.shop.Run})
	}
	if n.roles.api {
		stages = append(stages, stage{name: "api", run: func(ctx context.Context) error { return n.api.Run(ctx, n.http) }})
	}
	if n.roles.recorder {
		keep := func() time.Duration { return n.live.rules().Retention.Tickets }
		recorder := record.New(n.engine.queue, n.database.ledger, keep, n.log)
		stages = append(stages, stage{name: "recorder", run: recorder.Run})
	}
	stages = append(append(stages, n.beater()), n.steering()...)
	if n.database != nil {
		stages = append(stages, stage{name: "database", run: n.database.run})
	}
	if n.roles.api {
		stages = append(stages, stage{name: "commands", run: func(ctx context.Context) error { return serveHTTP(ctx, n.local, n.commands()) }})
	} else {
		health := api.NewHealth(n.checks(), n.metrics.Handler(), n.log)
		stages = append(stages, stage{name: "health", run: func(ctx context.Context) error { return serveHTTP(ctx, n.http, health.Handler()) }})
	}
	return pipeline{stages: stages, log: n.log}
}

// leave is the stage before all others. Told to stop, it says so in /readyz, goes on for
// the shutdown delay, and refuses new messages from then on.
func (n *node) leave(ctx context.Context) error {
	<-ctx.Done()
	n.api.Leave()
	<-time.After(n.settings.ShutdownDelay)
	n.api.Drain()
	return nil
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

// serveHTTP serves l until ctx ends, and answers under way for a second more.
func serveHTTP(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
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
