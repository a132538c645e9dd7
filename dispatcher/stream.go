package dispatcher

import (
	"sync"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// flushEvery is how long pieces of an answer are gathered before they go out: a
// vendor sends up to a hundred a second, and a reader sees no difference.
const flushEvery = 30 * time.Millisecond

// maxStreams is how many answers one process streams at once; further ones are given whole,
// with their final event.
const maxStreams = 1_000

// stream gathers the text of an answer in the making and sends it as deltas. Deltas
// are disposable: one that cannot be sent is dropped, the final event has the whole.
type stream struct {
	d *Dispatcher
	s *queue.Stored

	mu     sync.Mutex
	buf    []byte
	next   int
	timer  *time.Timer
	closed bool
}

func (d *Dispatcher) newStream(s *queue.Stored) *stream {
	return &stream{d: d, s: s, closed: d.streams.Add(1) > maxStreams}
}

// write never blocks.
func (o *stream) write(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || text == "" {
		return
	}
	o.buf = append(o.buf, text...)
	if o.timer == nil {
		o.timer = time.AfterFunc(flushEvery, o.flush)
	}
}

func (o *stream) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = nil
	if o.closed || len(o.buf) == 0 {
		return
	}
	delta := chat.Delta{Ticket: o.s.ID, Attempt: o.s.Attempts, I: o.next, Text: string(o.buf)}
	o.next++
	o.buf = o.buf[:0]
	if err := o.d.queue.SendDelta(o.s.Tenant, o.s.Session, delta); err != nil {
		o.d.log.Debug().Err(err).Str("ticket", o.s.ID).Msg("delta dropped")
	}
}

// close, called once, drops what has not gone out: the final event follows with the whole text.
func (o *stream) close() {
	o.d.streams.Add(-1)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.timer != nil {
		o.timer.Stop()
	}
}
