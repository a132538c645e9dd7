package queue

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// maxReasons bounds how many reasons of one outage are told.
const maxReasons = 8

// watch tells the log what becomes of a connection after its entry: each reason that
// keeps it out once, its return, and a server that is too old. The client calls it from
// its own goroutines.
type watch struct {
	log  zerolog.Logger
	rest zerolog.Logger // for what comes once a message, if it comes

	mu   sync.Mutex
	nc   *nats.Conn      // nil: no server has let us in yet
	said map[string]bool // the reasons told since one last did
}

func newWatch(log zerolog.Logger) *watch {
	return &watch{
		log: log, rest: log.Sample(&zerolog.BurstSampler{Burst: 5, Period: time.Minute}), said: map[string]bool{},
	}
}

// follow begins with a connection that a server has let in.
func (w *watch) follow(nc *nats.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nc = nc
}

// pause says how long to wait after all servers were tried in vain. What the last one
// said stands in the connection alone: the client calls nobody for it.
func (w *watch) pause(int) time.Duration {
	w.mu.Lock()
	nc := w.nc
	w.mu.Unlock()
	if nc != nil {
		w.tell(Fault(nc))
	}
	return reconnectWait + rand.N(reconnectWait)
}

// tell gives the log one line for each reason of an outage.
func (w *watch) tell(err error) {
	if err == nil {
		return // nobody listens there
	}
	reason := err.Error()
	for _, kind := range []error{ErrCreds, ErrCertificate} {
		if errors.Is(err, kind) {
			reason = kind.Error()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.said[reason] || len(w.said) == maxReasons {
		return
	}
	w.said[reason] = true
	w.log.Error().Err(err).Msg("nats does not let us in")
}

// entered is called when a server has let the connection in again.
func (w *watch) entered(nc *nats.Conn) {
	w.mu.Lock()
	told := len(w.said) > 0
	clear(w.said)
	w.mu.Unlock()
	if told {
		w.log.Info().Str("server", nc.ConnectedServerName()).Msg("nats lets us in again")
	}
	if version := nc.ConnectedServerVersion(); version != "" && !newEnough(version) {
		w.log.Warn().Err(tooOld(version)).Str("server", nc.ConnectedServerName()).Msg("nats server is too old")
	}
}

// complaint is called for what the client cannot tell anybody else: a refusal, a subject
// that is denied, a reader that is too slow.
func (w *watch) complaint(nc *nats.Conn, sub *nats.Subscription, err error) {
	if sub == nil && (refuses(err) || !nc.IsConnected()) {
		w.tell(fault(err))
		return
	}
	line := w.rest.Warn().Err(err)
	if sub != nil {
		line = line.Str("subject", sub.Subject)
	}
	line.Msg("nats complains")
}
