// Package queuetest prepares test binaries whose tests run a real nats-server, inside
// synctest bubbles too.
package queuetest

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server/ats"
	"go.uber.org/goleak"
)

// Main runs the tests and fails if a goroutine outlives them.
//
// nats-server keeps one clock goroutine per process, which waits on a channel of its
// package. Started by a server inside a bubble it would keep that bubble's time from ever
// advancing, because the channel is not the bubble's; so it is started here, outside.
func Main(m *testing.M) {
	ats.Register()
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"))
}
