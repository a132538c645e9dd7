package queue

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"
)

// lanePart is about how many messages one part of a lane has. A work queue lets nobody read
// it but its one consumer, so a search asks for message after message, of several parts at
// a time.
const lanePart = 160

// walk notes the tickets of a lane's messages under a subject, those of the newest parts
// first, until there are mostOpen.
func (k *knowing) walk(ctx context.Context, lane jetstream.Stream, subject string) error {
	info, err := lane.Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return err
	}
	first, end := info.State.FirstSeq, info.State.LastSeq+1
	size := max(lanePart, (end-first)*lanePart/info.State.Msgs)
	var (
		work   sync.WaitGroup
		count  atomic.Int64
		cut    atomic.Bool
		parts  = make(chan uint64) // where each begins
		faults = make([]error, searchWidth)
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range searchWidth {
		work.Go(func() {
			for begin := range parts {
				if !k.deep && count.Load() >= mostOpen {
					cut.Store(true)
				} else if faults[i] == nil {
					faults[i] = k.walkPart(ctx, lane, subject, begin, size, &count)
				}
				if faults[i] != nil {
					cancel()
				}
			}
		})
	}
	for begin := first + (end-1-first)/size*size; !cut.Load(); begin -= size {
		parts <- begin
		if begin == first {
			break
		}
	}
	close(parts)
	work.Wait()
	k.Cut = k.Cut || cut.Load()
	return errors.Join(faults...)
}

// walkPart notes the tickets of the messages in one part.
func (k *knowing) walkPart(ctx context.Context, lane jetstream.Stream, subject string, begin, size uint64, count *atomic.Int64) error {
	for end := begin + size; begin < end; {
		raw, err := lane.GetMsg(ctx, begin, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && raw.Sequence >= end {
			return nil
		}
		if err != nil {
			return err
		}
		if t := seen(raw.Data); t != nil {
			k.noteOpen(t)
			count.Add(1)
		}
		begin = raw.Sequence + 1
	}
	return nil
}
