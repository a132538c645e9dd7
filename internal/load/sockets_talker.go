package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/chat"
)

const (
	ackFor   = 10 * time.Second // then a message is sent once more
	mostOpen = 20               // messages of one socket that have not ended
)

// saying is one message of a talker. Its cmid is its place among them.
type saying struct {
	at     time.Time // when it was first sent
	again  time.Time // when it is sent once more; zero: no more
	ticket string
	route  chat.Route
	code   string // why it was refused
	acked  bool
	ended  bool
	ackMS  int64 // -1: an event told of it, and no ack
	endMS  int64
}

// over reports whether nothing more is to come.
func (s *saying) over() bool { return s.ended || s.code != "" }

// talker is one socket and who sits at it. One goroutine owns it; once all have ended it
// belongs to the checks.
type talker struct {
	*socketRun
	n   int
	rng *rand.Rand

	conn           *websocket.Conn
	session, token string
	heard          told
	said           []saying
	first          int       // of them that is not over
	next           time.Time // when the next message is due; zero: none any more
	begun          bool      // it may talk
	there          bool      // it is known whether it opens
	welcomed       bool      // it was open once
	gone           bool      // it was not seen to its end
	settled        bool      // nothing more is waited for
	found          found
}

func newTalker(r *socketRun, n int) *talker {
	return &talker{socketRun: r, n: n, rng: rand.New(rand.NewPCG(r.cfg.Seed, uint64(n)))}
}

// talk sends each message at its time and follows it, until the connection or the load ends.
func (k *talker) talk(ctx context.Context, frames <-chan frame) error {
	wake := time.NewTimer(time.Hour)
	defer wake.Stop()
	start := k.start
	if k.begun {
		start = nil
	}
	for {
		wake.Reset(time.Until(k.due()))
		select {
		case <-start:
			start, k.begun = nil, true
			k.plan(k.from.Add(time.Duration(k.rng.Float64() * float64(k.cfg.Every))))
		case f := <-frames:
			if f.Type == cut {
				return f.err
			}
			k.take(f, time.Now())
		case <-wake.C:
			if err := k.speak(ctx, time.Now()); err != nil {
				return err
			}
		case <-k.leave:
			return errLeft
		case <-ctx.Done():
			return ctx.Err()
		}
		k.settle(false)
	}
}

// plan says when the next message is due, if there is time for one.
func (k *talker) plan(at time.Time) {
	if k.next = at; !at.Before(k.from.Add(k.cfg.For)) {
		k.next = time.Time{}
	}
}

// due is when there is something to send.
func (k *talker) due() time.Time {
	at := time.Now().Add(time.Hour)
	if !k.next.IsZero() {
		at = k.next
	}
	for i := k.first; i < len(k.said); i++ {
		if s := &k.said[i]; !s.again.IsZero() && s.again.Before(at) {
			at = s.again
		}
	}
	return at
}

// speak sends what is due at now, each for the first time or once more.
func (k *talker) speak(ctx context.Context, now time.Time) error {
	if !k.next.IsZero() && !now.Before(k.next) {
		k.plan(k.next.Add(time.Duration((0.8 + 0.4*k.rng.Float64()) * float64(k.cfg.Every))))
		if len(k.said)-k.first >= mostOpen {
			k.counts.withheld.Add(1)
		} else {
			k.said = append(k.said, saying{at: now, again: now})
			k.counts.sent.Add(1)
		}
	}
	for i := k.first; i < len(k.said); i++ {
		s := &k.said[i]
		if s.again.IsZero() || now.Before(s.again) {
			continue
		}
		s.again = now.Add(ackFor)
		err := write(ctx, k.conn, map[string]any{"type": "send", "cmid": strconv.Itoa(i), "text": k.text(i)})
		if err != nil {
			return err
		}
	}
	return nil
}

// text makes the message of a place: no other of the run has it.
func (k *talker) text(i int) string {
	asked := k.asked[(k.n+i)%len(k.asked)]
	return question(asked, fmt.Sprint(firstOrder+k.n+i*k.cfg.Sockets))
}

// take notes what a frame says.
func (k *talker) take(f frame, now time.Time) {
	switch f.Type {
	case "ack":
		if s := k.saying(f.CMID); s != nil {
			k.acked(s, f.Ticket, now.Sub(s.at).Milliseconds())
		}
	case "event":
		if k.heard.take(f.Seq, f.Ticket, f.CMID, f.Status) {
			k.event(f, now)
		}
	case "error":
		k.refused(f, now)
	}
}

// acked notes that a message is durable. An ack may follow its event.
func (k *talker) acked(s *saying, ticket string, ms int64) {
	if s.acked && (s.ackMS >= 0 || ms < 0) {
		return
	}
	if !s.acked {
		k.counts.acked.Add(1)
	}
	s.acked, s.again, s.ticket, s.ackMS = true, time.Time{}, ticket, ms
}

func (k *talker) event(f frame, now time.Time) {
	if s := k.saying(f.CMID); s != nil && f.Who == chat.ByCustomer {
		k.acked(s, f.Ticket, -1)
	}
	if !f.Status.Ended() {
		return
	}
	for i := k.first; i < len(k.said); i++ {
		if s := &k.said[i]; s.ticket == f.Ticket && !s.over() {
			s.ended, s.endMS, s.route = true, now.Sub(s.at).Milliseconds(), f.Route
			k.counts.ended.Add(1)
		}
	}
	k.tidy()
}

// refused notes that a message was refused, for a while or for good.
func (k *talker) refused(f frame, now time.Time) {
	s := k.saying(f.CMID)
	if s == nil || s.acked || s.over() {
		return
	}
	if f.Temporary {
		k.tally.held(f.Code)
		s.again = now.Add(max(time.Duration(f.RetryAfterMS)*time.Millisecond, tryAgain))
		return
	}
	s.code, s.again = f.Code, time.Time{}
	k.counts.refused.Add(1)
	k.tidy()
}

func (k *talker) tidy() {
	for k.first < len(k.said) && k.said[k.first].over() {
		k.first++
	}
}

func (k *talker) saying(cmid string) *saying {
	i, err := strconv.Atoi(cmid)
	if err != nil || i < 0 || i >= len(k.said) {
		return nil
	}
	return &k.said[i]
}

// settle counts the talker as done with, once it has nothing to send or to hear.
func (k *talker) settle(anyway bool) {
	if k.settled || !anyway && (!k.begun || !k.next.IsZero() || k.first < len(k.said)) {
		return
	}
	k.settled = true
	if k.left.Add(-1) == 0 {
		close(k.quiet)
	}
}
