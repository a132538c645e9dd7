package queue

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How often what is watched is read all the same, because a watch may miss something
// while its server changes; how long one such read may take; how long a watch may take
// to open, and the pause before the next try.
const (
	reread      = 750 * time.Millisecond
	readLimit   = 900 * time.Millisecond
	watchLimit  = 5 * time.Second
	rewatchWait = time.Second
)

// follow calls read now, after each change of a key under filter, after each return of
// the connection, and at least each reread, until ctx ends. The calls come one at a
// time. What read finds is the truth; the watch only says when to look.
func follow(ctx context.Context, nc *nats.Conn, kv jetstream.KeyValue, filter string, read func(context.Context)) {
	bell := make(chan struct{}, 1)
	ring := func() {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
	var ringer sync.WaitGroup
	ringer.Go(func() { ringOnChange(ctx, kv, filter, ring) })
	ringer.Go(func() { ringOnReturn(ctx, nc, ring) })
	defer ringer.Wait()
	ticker := time.NewTicker(reread)
	defer ticker.Stop()
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, readLimit)
		read(limited)
		cancel()
		select {
		case <-bell:
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// ringOnChange rings for each change of a key, until ctx ends.
func ringOnChange(ctx context.Context, kv jetstream.KeyValue, filter string, ring func()) {
	for ctx.Err() == nil {
		ringWhileWatched(ctx, kv, filter, ring)
		_ = pause(ctx, rewatchWait)
	}
}

// ringWhileWatched returns when the watch could not be opened, or has ended.
func ringWhileWatched(ctx context.Context, kv jetstream.KeyValue, filter string, ring func()) {
	// The context is the watch's for all its life, so a limit of its opening is a cancel.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := time.AfterFunc(watchLimit, cancel)
	watch, err := kv.Watch(ctx, filter, jetstream.UpdatesOnly(), jetstream.MetaOnly())
	if err != nil {
		limit.Stop()
		return
	}
	defer func() { _ = watch.Stop() }()
	if !limit.Stop() {
		return
	}
	ring() // for what changed before the watch stood
	for {
		select {
		case _, open := <-watch.Updates():
			if !open {
				return
			}
			ring()
		case <-ctx.Done():
			return
		}
	}
}

// ringOnReturn rings when the connection is back, until ctx ends.
func ringOnReturn(ctx context.Context, nc *nats.Conn, ring func()) {
	back := nc.StatusChanged(nats.CONNECTED)
	defer nc.RemoveStatusListener(back)
	for {
		select {
		case _, open := <-back:
			if !open {
				<-ctx.Done()
				return
			}
			ring()
		case <-ctx.Done():
			return
		}
	}
}
