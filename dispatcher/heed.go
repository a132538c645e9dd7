package dispatcher

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// errTaken stops the work on a job that somebody else has taken: our signs of life came
// too late for its lane.
var errTaken = errors.New("another holder has the ticket")

// heed reads a running ticket again with each heartbeat and stops the work on it when
// somebody else has written it: the nudge of a cancel may be lost. Meanwhile its customer
// sees that somebody is at it. stop ends both and waits.
func (d *Dispatcher) heed(ctx context.Context, j *job, s queue.Stored) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	d.typing(&s, true)
	var reader sync.WaitGroup
	reader.Go(func() {
		ticker := time.NewTicker(queue.Heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				d.typing(&s, true)
			}
			now, err := d.queue.Ticket(ctx, s.ID)
			switch {
			case err != nil || now.Rev <= s.Rev:
				// An engine that does not answer says nothing about the ticket.
			case now.Status.Ended():
				j.cancel(errCancelled)
				return
			case now.Status == chat.Running && now.Attempts == s.Attempts:
				// Our own word: the ticket has set out to do what cannot be undone.
			default:
				j.cancel(errTaken)
				return
			}
		}
	})
	return func() {
		cancel()
		reader.Wait()
		d.typing(&s, false)
	}
}
