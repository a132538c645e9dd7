package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Server error codes that nats.go has no constants for.
const (
	codeWrongSequence   jetstream.ErrorCode = 10071 // the expected last sequence does not hold
	codeStoreRefused    jetstream.ErrorCode = 10077 // any refusal by the store: the description tells
	codeWriteInFlight   jetstream.ErrorCode = 10164 // R3: another write to the subject is under way
	codeAccountExceeded jetstream.ErrorCode = 10002 // the account's limit, or its tier's
	codeNoResources     jetstream.ErrorCode = 10023 // the server's own limit
	codeMemoryExhausted jetstream.ErrorCode = 10028
	codeNoStorage       jetstream.ErrorCode = 10047
)

// inFlightTries bounds how often a compare-and-set is repeated that met another one to
// its subject under way.
const inFlightTries = 100

// decided repeats a compare-and-set until the server has decided about it. On several
// replicas a write that meets another one to the same subject under way is refused
// before anybody knows whether that one will stand: no verdict on ours.
func decided(ctx context.Context, write func() error) error {
	for range inFlightTries {
		err := write()
		if apiCode(err) != codeWriteInFlight {
			return err
		}
		if err := pause(ctx, time.Duration(5+rand.IntN(10))*time.Millisecond); err != nil {
			return err
		}
	}
	return write()
}

// outpaced reports whether a compare-and-set met another writer.
func outpaced(err error) bool {
	if errors.Is(err, jetstream.ErrKeyExists) {
		return true
	}
	code := apiCode(err)
	return code == codeWrongSequence || code == codeWriteInFlight
}

// refusal turns the store's refusal of a write into ErrFull or ErrStorage, and wraps
// anything else with what was tried.
func refusal(action string, err error) error {
	if err == nil {
		return nil
	}
	var api *jetstream.APIError
	if errors.As(err, &api) {
		switch {
		case api.ErrorCode == codeStoreRefused && strings.Contains(api.Description, "maximum messages"):
			return fmt.Errorf("%s: %w", action, ErrFull)
		case noRoom(api):
			return fmt.Errorf("%s: %w: %s", action, ErrStorage, api.Description)
		}
	}
	return fmt.Errorf("%s: %w", action, err)
}

// noRoom reports whether a write was refused for want of storage, whoever lacks it: the
// account, the server, its disk, or a stream that somebody has given a size.
func noRoom(api *jetstream.APIError) bool {
	switch api.ErrorCode {
	case codeAccountExceeded, codeNoResources, codeMemoryExhausted, codeNoStorage:
		return true
	case codeStoreRefused:
		return strings.Contains(api.Description, "maximum bytes") || strings.Contains(api.Description, "no space left")
	}
	return false
}

func apiCode(err error) jetstream.ErrorCode {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode
	}
	return 0
}
