package api

import (
	"context"
	"time"
)

// readEvery is the shortest time between two writes of what a socket's customer has read,
// and readLimit how long one may take.
const (
	readEvery = time.Second
	readLimit = 2 * time.Second
)

// readMark keeps what the customer of one socket has read: at once where nothing was written
// in the last readEvery, else the newest of it then. It belongs to the feed's goroutine;
// only its channel is used by others.
type readMark struct {
	news chan uint64 // the newest seq that nobody has taken yet
	seq  uint64      // to be written
	due  <-chan time.Time
	done uint64 // written
}

func newReadMark() readMark { return readMark{news: make(chan uint64, 1)} }

// markRead hands on how far the customer has read; an older word that still waits is replaced.
func (k *socket) markRead(seq uint64) {
	select {
	case waiting := <-k.reads.news:
		seq = max(seq, waiting)
	default:
	}
	k.reads.news <- seq // the reader's goroutine alone fills it
}

// reading notes what has been read, of what was handed on; it is written when that is due.
func (f *feed) reading(ctx context.Context, seq uint64) {
	r := &f.reads
	r.seq = max(r.seq, min(seq, f.cursor))
	if r.due == nil && r.seq > r.done {
		f.writeRead(ctx)
		r.due = time.After(readEvery)
	}
}

// readDue writes what has come since the last write.
func (f *feed) readDue(ctx context.Context) {
	f.reads.due = nil
	if f.reads.seq > f.reads.done {
		f.reading(ctx, f.reads.seq)
	}
}

// readLast writes what is left when the socket ends.
func (f *feed) readLast(ctx context.Context) {
	select {
	case seq := <-f.reads.news:
		f.reads.seq = max(f.reads.seq, min(seq, f.cursor))
	default:
	}
	if f.reads.seq > f.reads.done {
		f.writeRead(context.WithoutCancel(ctx))
	}
}

// writeRead makes it durable how far the customer has read. One that cannot be written is
// no loss: a later one says more, and without it a notice is sent.
func (f *feed) writeRead(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	if err := f.queue.Read(ctx, f.tenant.Name, f.session, f.reads.seq); err != nil {
		f.log.Debug().Err(err).Str("session", f.session).Msg("what the customer has read is not noted")
		return
	}
	f.reads.done = f.reads.seq
}
