// Package queuetest lets tests run a real nats-server inside synctest bubbles.
package queuetest

import (
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for go:linkname

	_ "github.com/nats-io/nats-server/v2/server/ats" // owns clockDone
	"go.uber.org/goleak"
)

// clockDone ends the goroutine by which nats-server keeps a coarse clock for its
// stores, one per process. Message expiry goes by that clock.
//
//go:linkname clockDone github.com/nats-io/nats-server/v2/server/ats.done
var clockDone chan struct{}

// Rarely is how often a server of a bubble syncs its files: no power is cut there, and an
// hour of a bubble would be 3,600 syncs of every file.
const Rarely = 1000 * time.Hour

// Bubble runs f in a synctest bubble in which a nats-server works to the bubble's time.
// Without it the server's clock goroutine would wait on a channel from outside, which
// keeps the time of a bubble from advancing.
//
// The clock is the process's: a test that calls Bubble must not be parallel, and a test
// of the same package that runs a server outside a bubble must be, so that it starts
// after the bubbles. f stops its server, by Stop, before it returns.
func Bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	// A server that starts outside afterwards must not meet a channel of the bubble.
	defer freshClock()
	synctest.Test(t, func(t *testing.T) {
		freshClock()
		f(t)
	})
}

// freshClock makes clockDone anew. The goroutine that read the last one has ended with its
// bubble, but by no means that the race detector could see: it had been sent to, not waited for.
//
//go:norace
func freshClock() { clockDone = make(chan struct{}, 1) }

// Stop stops a server of a bubble once it has nothing to do. While it shuts down it sleeps
// with a lock in its hand: a request under way, such as that of a client that has died,
// would wait for the lock, which is no wait that lets the time of a bubble advance.
func Stop(server interface{ Stop() }) {
	synctest.Wait()
	server.Stop()
}

// Main runs the tests of a package and fails if a goroutine outlives them.
func Main(m *testing.M) { goleak.VerifyTestMain(m) }
