//go:build !unix

package pgchild

import (
	"context"
	"fmt"
	"runtime"
)

// Server is never made on this system: the child needs unix sockets and signals.
type Server struct{}

// Open returns ErrNoServer: here the ledger needs SLUICE_DATABASE_URL.
func Open(_ context.Context, cfg Config) (*Server, error) {
	if _, err := cfg.withDefaults(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("private postgres on %s: %w", runtime.GOOS, ErrNoServer)
}

// URL returns nothing here.
func (*Server) URL() string { return "" }

// Version returns nothing here.
func (*Server) Version() string { return "" }

// Run returns ErrNoServer here.
func (*Server) Run(context.Context) error { return ErrNoServer }
