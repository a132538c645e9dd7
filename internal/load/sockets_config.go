package load

import (
	"errors"
	"fmt"
	"time"
)

// What a load of sockets is when its config says nothing else.
const (
	DefaultSockets = 10_000
	DefaultOpens   = 250
	DefaultEvery   = 30 * time.Second
	DefaultTalk    = 2 * time.Minute
	DefaultRest    = 10 * time.Second
)

const (
	maxSockets  = 20_000    // what the rules allow one server
	maxMessages = 1_000_000 // about 100 bytes of each are kept
	leastEvery  = time.Second
)

// SocketsConfig says how many sockets talk how often. The zero value is 10,000 sockets that
// send a message each 30 s for two minutes.
type SocketsConfig struct {
	// Sockets is how many are open at once. Defaults to 10,000; at most 20,000.
	Sockets int

	// Opens is how many are opened a second. Defaults to 250.
	Opens int

	// Every is the time between two messages of one socket, up to a fifth more or less of it
	// by chance. Defaults to 30s, at least 1s. The first comes at any moment of that time.
	Every time.Duration

	// For is how long messages are sent. Defaults to 2m, at most an hour.
	For time.Duration

	// Rest is how long the sockets are open before the first message: what an idle one costs
	// is read at its end. Defaults to 10s, at most an hour.
	Rest time.Duration

	// Timeout is how long after For the last answers may come. Defaults to 2 minutes, at
	// most an hour.
	Timeout time.Duration

	// Seed makes messages and their moments repeatable.
	Seed uint64

	// AllowRemote allows a target on another machine.
	AllowRemote bool
}

// Validate names the first field that is wrong, with its value.
func (c SocketsConfig) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Sockets < 1 || c.Sockets > maxSockets:
		return fmt.Errorf("sockets %d: must be from 1 to %d, or 0 for the default", c.Sockets, maxSockets)
	case c.Opens < 1 || c.Opens > maxSockets:
		return fmt.Errorf("opens %d: must be from 1 to %d a second, or 0 for the default", c.Opens, maxSockets)
	case c.Every < leastEvery || c.Every > maxFor:
		return fmt.Errorf("every %s: must be from %s to %s, or 0 for the default", c.Every, leastEvery, maxFor)
	case c.messages() > maxMessages:
		return fmt.Errorf("for %s: would be about %d messages, must be at most %d", c.For, c.messages(), maxMessages)
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"for", c.For}, {"rest", c.Rest}, {"timeout", c.Timeout}} {
		if f.value < 0 || f.value > maxFor {
			return fmt.Errorf("%s %s: must be from 0s to %s", f.name, f.value, maxFor)
		}
	}
	return nil
}

func (c SocketsConfig) withDefaults() SocketsConfig {
	c.Sockets, c.Opens = or(c.Sockets, DefaultSockets), or(c.Opens, DefaultOpens)
	c.Every, c.For = or(c.Every, DefaultEvery), or(c.For, DefaultTalk)
	c.Rest, c.Timeout = or(c.Rest, DefaultRest), or(c.Timeout, DefaultTimeout)
	return c
}

// messages is about how many are sent in all.
func (c SocketsConfig) messages() int {
	return int(float64(c.Sockets) * float64(c.For) / float64(c.Every))
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// SocketTarget is where the sockets are opened.
type SocketTarget struct {
	BaseURL string   // of the instance, such as "http://127.0.0.1:8080"
	Origin  string   // of a page that the keys' tenants allow
	Keys    []string // one publishable key per tenant; sockets are dealt to them in turn
}

// Validate names the first field that is wrong. Hosts are judged as in Target.
func (t SocketTarget) Validate(remote bool) error {
	if t.Origin == "" {
		return errors.New("origin: must not be empty")
	}
	return Target{BaseURL: t.BaseURL, Keys: t.Keys}.Validate(remote)
}
