package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/api"
)

// The pause between two tries for what is not there yet; how long that may take before
// the log tells of it, and before another reason gets a line.
const (
	waitPause  = 250 * time.Millisecond
	waitQuiet  = time.Second
	waitRepeat = 10 * time.Second
)

// errNever marks an error that waiting does not cure.
type errNever struct{ error }

func (e errNever) Unwrap() error { return e.error }

// errNamed is an error with a name that /readyz may show: its text may hold addresses.
type errNamed struct {
	error
	name string
}

func (e errNamed) Unwrap() error { return e.error }

// waits is what a process waits for before it can work: processes start in any order.
// It is safe for concurrent use.
type waits struct {
	log zerolog.Logger

	mu  sync.Mutex
	now string // what is waited for, or empty
	why string // what keeps it away, or empty: not told, or not known
}

// state tells /readyz what is waited for.
func (w *waits) state(context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == "" {
		return "starting", errors.New("not asked yet")
	}
	state := "waiting for " + w.now
	if w.why != "" {
		state += ": " + w.why
	}
	return state, errors.New("not there yet")
}

func (w *waits) set(what string, err error) {
	var named errNamed
	errors.As(err, &named)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.why = what, named.name
}

// until tries until it succeeds, fails with errNever, or ctx ends. The log gets one line
// when that takes a while, another only if its reason changes, and one when it is over.
func (w *waits) until(ctx context.Context, what string, try func(context.Context) error) error {
	w.set(what, nil)
	begun, said := time.Now(), ""
	sayAt := begun.Add(waitQuiet)
	for {
		err := try(ctx)
		var never errNever
		switch {
		case err == nil:
			if said != "" {
				w.log.Info().Str("for", what).Int64("took_ms", time.Since(begun).Milliseconds()).Msg("waited")
			}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &never):
			return never.error
		}
		w.set(what, err)
		if text := err.Error(); text != said && time.Now().After(sayAt) {
			w.log.Warn().Err(err).Str("for", what).Msg("waiting")
			said, sayAt = text, time.Now().Add(waitRepeat)
		}
		if err := sleep(ctx, waitPause); err != nil {
			return err
		}
	}
}

// sleep waits on a timer, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lent is a listener whose user may close it without closing the port: a closed lent
// one only wakes its user up, and its owner goes on with the port.
type lent struct{ *net.TCPListener }

// Close ends the lending.
func (l lent) Close() error { return l.SetDeadline(time.Now()) }

// meanwhile answers /livez and /readyz on the HTTP port until back is called; then the
// port is free for the API.
func (n *node) meanwhile(ctx context.Context) (back func()) {
	port, tcp := n.http.(*net.TCPListener)
	if !tcp {
		return func() {}
	}
	health := api.NewHealth([]api.Check{{Name: "nats", Required: true, State: n.waits.state}}, n.metrics.Handler(), n.log)
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- serveHTTP(serving, lent{port}, health.Handler()) }()
	return sync.OnceFunc(func() {
		stop()
		if err := <-served; err != nil {
			n.log.Warn().Err(err).Msg("answer while waiting")
		}
		_ = port.SetDeadline(time.Time{})
	})
}
