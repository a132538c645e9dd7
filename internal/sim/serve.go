package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// headerTimeout ends a connection that does not send the head of a request in time.
const headerTimeout = 10 * time.Second

// Serve serves v on one listener and its control port on another, which may be nil,
// until ctx ends or a listener fails. It then closes listeners and connections, which
// cuts calls in flight, and returns when all it started has ended: nil after ctx ended.
func Serve(ctx context.Context, v *Vendor, vendor, controlPort net.Listener) error {
	sites := []site{{v.Handler(), vendor}}
	if controlPort != nil {
		sites = append(sites, site{v.Control(), controlPort})
	}
	return serveAll(ctx, sites)
}

type site struct {
	handler  http.Handler
	listener net.Listener
}

// serveAll serves every site; the first that fails ends the others.
func serveAll(ctx context.Context, sites []site) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(sites))
	var wg sync.WaitGroup
	for i, s := range sites {
		wg.Go(func() {
			defer cancel()
			errs[i] = s.serve(ctx)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s site) serve(ctx context.Context) error {
	// Connections are counted from accept to close, handlers by themselves: a handler that
	// takes over its connection outlives it in the server's books.
	var conns, handlers sync.WaitGroup
	server := &http.Server{
		ReadHeaderTimeout: headerTimeout,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handlers.Add(1)
			defer handlers.Done()
			s.handler.ServeHTTP(w, r)
		}),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				conns.Add(1)
			case http.StateClosed, http.StateHijacked:
				conns.Done()
			}
		},
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = server.Close() // errors of closing what is given up
	})
	err := server.Serve(s.listener)
	if stop() {
		// The listener failed by itself; the server's connections still have to go.
		_ = server.Close()
	} else {
		<-closed
	}
	conns.Wait()
	handlers.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serve simulated vendor on %s: %w", s.listener.Addr(), err)
}
