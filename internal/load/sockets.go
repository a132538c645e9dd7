package load

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/report"
)

// Sockets opens sockets at an even rate, lets them idle, has each send messages at its own
// moments, and follows every message to its ack and its end. A connection that is lost is
// opened anew and goes on after the newest event. Then every session's log is read: each
// message must stand there once, end once, and the socket must have been told the same
// events in the same order.
//
// An error means that nothing was sent: a bad config, too few files, or nobody at the
// target. When ctx ends early, all that Sockets started has ended on return and the report
// tells what was known by then, with Interrupted set; it is not OK.
func Sockets(ctx context.Context, t SocketTarget, cfg SocketsConfig, show report.Progress) (*SocketsReport, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := t.Validate(cfg.AllowRemote); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	if err := enoughFiles(cfg.Sockets + spareFiles); err != nil {
		return nil, err
	}
	r := newSocketRun(t, cfg)
	defer r.client.close()
	if err := r.client.reach(ctx); err != nil {
		return nil, fmt.Errorf("reach %s: %w", t.BaseURL, err)
	}
	if err := r.meter.roomFor(ctx, cfg.Sockets); err != nil {
		return nil, err
	}
	r.play(ctx, show)
	return r.report(), nil
}

// socketRun is one load of sockets on its way.
type socketRun struct {
	target SocketTarget
	cfg    SocketsConfig
	url    string
	client *client
	meter  *meter
	asked  []string
	all    []*talker

	arrived sync.WaitGroup // those of which it is not known whether they open
	readers sync.WaitGroup
	start   chan struct{} // closed when they may talk
	from    time.Time     // when that was; written before
	left    atomic.Int64  // those that have something to send or to hear
	quiet   chan struct{} // closed when none is left
	leave   chan struct{} // closed when all are to go
	counts  socketCounts
	tally   socketTally

	startedAt, openAt, quietAt time.Time
	interrupted                bool
}

func newSocketRun(t SocketTarget, cfg SocketsConfig) *socketRun {
	r := &socketRun{
		target: t, cfg: cfg, url: socketURL(t.BaseURL), client: newSocketClient(t),
		asked: strings.Split(strings.TrimSpace(questions), "\n"),
		start: make(chan struct{}), quiet: make(chan struct{}), leave: make(chan struct{}),
	}
	r.meter = newMeter(r.client, &r.counts)
	r.tally.closes, r.tally.holds = map[string]int{}, map[string]int{}
	r.counts.cfg = cfg
	for n := range cfg.Sockets {
		r.all = append(r.all, newTalker(r, n))
	}
	r.left.Store(int64(cfg.Sockets))
	r.arrived.Add(cfg.Sockets)
	return r
}

// newSocketClient returns a client whose connections take little memory and are as many as
// there are sockets.
func newSocketClient(t SocketTarget) *client {
	c := newClient(Target{BaseURL: t.BaseURL, Keys: t.Keys})
	c.http.Transport = &http.Transport{
		DialContext:     (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ReadBufferSize:  1 << 10,
		WriteBufferSize: 1 << 10,
		MaxIdleConns:    reads, MaxIdleConnsPerHost: reads, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: 5 * time.Second,
	}
	return c
}

// play is a load from the first socket to the last check.
func (r *socketRun) play(ctx context.Context, show report.Progress) {
	r.startedAt = time.Now()
	beside, stop := context.WithCancel(context.WithoutCancel(ctx))
	var others sync.WaitGroup
	others.Go(func() { r.meter.run(beside) })
	others.Go(func() { show.Run(beside, &r.counts) })
	r.meter.mark(ctx, atStart)
	talking, hangUp := context.WithCancel(ctx)
	var talkers sync.WaitGroup
	r.openAll(talking, &talkers)
	r.talkAll(ctx)
	close(r.leave)
	talkers.Wait()
	hangUp()
	r.readers.Wait()
	r.meter.mark(ctx, atEnd)
	r.checkAll(ctx)
	stop()
	others.Wait()
	r.interrupted = ctx.Err() != nil
}

// openAll opens the sockets one after the other and returns when each is open or has
// given up.
func (r *socketRun) openAll(ctx context.Context, talkers *sync.WaitGroup) {
	begun := time.Now()
	for n, k := range r.all {
		pause(ctx, time.Until(begun.Add(time.Duration(n)*time.Second/time.Duration(r.cfg.Opens))))
		talkers.Go(func() { k.live(ctx) })
	}
	r.arrived.Wait()
	r.openAt = time.Now()
}

// talkAll lets the sockets idle and then talk, until nothing more is to come or the time is
// over.
func (r *socketRun) talkAll(ctx context.Context) {
	r.meter.mark(ctx, atOpen)
	if !pause(ctx, r.cfg.Rest) {
		return
	}
	r.meter.mark(ctx, atRest)
	r.from = time.Now()
	r.counts.from.Store(r.from.UnixNano())
	close(r.start)
	late := time.NewTimer(r.cfg.For + r.cfg.Timeout)
	defer late.Stop()
	talked := time.NewTimer(r.cfg.For)
	defer talked.Stop()
	for {
		select {
		case <-talked.C:
			r.meter.mark(ctx, atTalked)
			continue
		case <-r.quiet:
		case <-late.C:
		case <-ctx.Done():
		}
		r.quietAt = time.Now()
		return
	}
}

// socketCounts are what the progress and the series show.
type socketCounts struct {
	cfg                                                            SocketsConfig
	opened, open, sent, acked, ended, refused, withheld, inspected atomic.Int64
	from                                                           atomic.Int64 // of the talk, in nanoseconds; 0: it has not begun
}

// The parts of the way: opening, talking, checking.
const (
	openPart  = 20
	talkPart  = 70
	checkPart = 10
)

// Way is how far the load is, short of the very end.
func (c *socketCounts) Way() (done, total int) {
	part := func(of int, n, whole int64) int { return int(int64(of) * min(n, whole) * 10 / max(whole, 1)) }
	all := int64(c.cfg.Sockets)
	done = part(openPart, c.opened.Load(), all) + part(checkPart, c.inspected.Load(), all)
	if from := c.from.Load(); from > 0 {
		done += part(talkPart, int64(time.Since(time.Unix(0, from))), int64(c.cfg.For))
	}
	return done, 10 * (openPart + talkPart + checkPart)
}

// String returns the counts in one line.
func (c *socketCounts) String() string {
	sent, acked, ended := c.sent.Load(), c.acked.Load(), c.ended.Load()
	return fmt.Sprintf("sockets %d, sent %d, acked %d, ended %d, checked %d", c.open.Load(), sent, acked, ended, c.inspected.Load())
}
