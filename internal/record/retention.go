package record

import (
	"context"
	"time"
)

// How often the ledger lets go of what is older than it keeps, and how long after a start
// it does so for the first time.
const (
	dropEvery = time.Hour
	dropFirst = time.Minute
)

// retain lets the ledger keep tickets and events for as long as configured, until ctx ends.
func (r *Recorder) retain(ctx context.Context) {
	timer := time.NewTimer(dropFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			timer.Reset(dropEvery)
		}
		book := r.book()
		if book == nil {
			continue
		}
		gone, err := book.DropBefore(ctx, time.Now().Add(-r.keep()))
		switch {
		case err != nil && ctx.Err() == nil:
			r.log.Warn().Err(err).Msg("retention, going on within the hour")
		case gone.Tickets > 0 || gone.Events > 0 || gone.Months > 0:
			r.log.Info().Int64("tickets", gone.Tickets).Int64("events", gone.Events).Int("months", gone.Months).Msg("retention")
		}
	}
}
