package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/queue"
)

// explain names the setting to look at when no server can be entered, and tells what no
// waiting cures from what another server, or a new certificate, may.
func (s settings) explain(err error) error {
	creds := "SLUICE_NATS_CREDS"
	if s.NATSCreds == "" {
		creds += ", or user and password in SLUICE_NATS_URL"
	}
	switch {
	case errors.Is(err, queue.ErrCreds):
		return errNever{fmt.Errorf("%s: %w", creds, err)}
	case errors.Is(err, queue.ErrAuthority):
		return errNever{fmt.Errorf("SLUICE_NATS_CA: %w", err)}
	case errors.Is(err, queue.ErrVersion):
		return errNever{err}
	case errors.Is(err, queue.ErrCertificate):
		return errNamed{fmt.Errorf("SLUICE_NATS_CA, host names in SLUICE_NATS_URL: %w", err), queue.ErrCertificate.Error()}
	}
	return err
}

// check tells /readyz how NATS stands and, where the servers themselves keep an open
// connection out, why.
func (e *engine) check(ctx context.Context) (string, error) {
	err := e.queue.Ready(ctx)
	if err == nil {
		return "ready", nil
	}
	for _, reason := range []error{queue.ErrCertificate, queue.ErrCreds} {
		if errors.Is(queue.Fault(e.nc), reason) {
			return "away: " + reason.Error(), err
		}
	}
	return "away", err
}

// blame adds what the account has against us: a server that denies a subject does not
// answer at all, so that without it there would only be a timeout.
func (e *engine) blame(err error) error {
	denied := e.nc.LastError()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return errNamed{fmt.Errorf("SLUICE_NATS_CREDS: %w", err), "the account has no JetStream"}
	case errors.Is(denied, nats.ErrPermissionViolation):
		return errNamed{fmt.Errorf("SLUICE_NATS_CREDS: %w: %w", denied, err), "the account's permissions do not suffice"}
	}
	return err
}
