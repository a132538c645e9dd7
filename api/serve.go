package api

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

// Limits of a connection. There is no read time-out as a whole: it would end the
// context of a long poll. Header, body and answer each have their own.
const (
	headerTimeout = 10 * time.Second
	writeTimeout  = maxPoll + 30*time.Second // a socket's connection leaves it behind
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// Run serves l until ctx ends, then stops: nothing more comes in, long polls answer
// with what there is, sockets are closed last. It returns once everything that it
// started has ended, and may be called once. It closes l.
func (a *API) Run(ctx context.Context, l net.Listener) error {
	// The hub outlives ctx: sockets hear from it to the end.
	hubCtx, stopHub := context.WithCancel(context.WithoutCancel(ctx))
	defer stopHub()
	hub := make(chan error, 1)
	go func() { hub <- a.hub.run(hubCtx) }()
	select {
	case <-a.hub.ready():
	case err := <-hub:
		return errors.Join(err, l.Close())
	case <-ctx.Done():
		stopHub()
		return errors.Join(<-hub, l.Close())
	}
	var presence sync.WaitGroup
	presence.Go(func() { a.sockets.presence.run(hubCtx) })
	defer presence.Wait()
	var watching sync.WaitGroup
	watched, blind := context.WithCancel(hubCtx)
	watching.Go(func() { a.streams.run(watched) })
	if a.deps.Board != nil {
		watching.Go(func() { a.deps.Board.Run(watched, a.gauges) })
	}
	defer func() { blind(); watching.Wait() }()
	var batches sync.WaitGroup
	feeding, stopFeeding := context.WithCancel(ctx)
	batches.Go(func() { a.batches.run(feeding) })
	batches.Go(func() { a.bulks.run(feeding) })
	defer func() { stopFeeding(); batches.Wait() }()
	l = netutil.LimitListener(l, a.cfg.Conns)
	server := &http.Server{
		Handler: a.echo, ReadHeaderTimeout: headerTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: stdlog.New(a.deps.Log.With().Str("stage", "api").Logger(), "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-hub:
		hub <- nil
	case err = <-served:
		served <- nil
		err = fmt.Errorf("serve: %w", err)
	}
	err = errors.Join(err, a.stop(context.WithoutCancel(ctx), server))
	stopHub()
	<-served
	return errors.Join(err, <-hub)
}

// stop ends what waits, then the connections, the sockets last.
func (a *API) stop(ctx context.Context, server *http.Server) error {
	a.Drain()
	close(a.stopping)
	patience, cancel := context.WithTimeout(ctx, a.cfg.Stop)
	defer cancel()
	err := server.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		a.deps.Log.Warn().Str("stage", "api").Msg("answers under way were cut")
		err = server.Close()
	}
	if err != nil {
		err = fmt.Errorf("stop server: %w", err)
	}
	patience, cancel = context.WithTimeout(ctx, a.cfg.Stop)
	defer cancel()
	if cut := a.sockets.closeAll(patience); cut != nil {
		// Their clients come back and resume: no fault of this stop.
		a.deps.Log.Warn().Err(cut).Str("stage", "api").Msg("sockets were cut")
	}
	return err
}
