package pulse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/internal/queue"
)

// tell returns this board's hour for the one that asks; nil: it has none, or asks itself,
// and stays silent.
func (b *Board) tell(asker []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hour.newest == 0 || string(asker) == b.name {
		return nil
	}
	body, err := json.Marshal(b.hour.History())
	if err != nil {
		b.log.Error().Err(err).Msg("the last hour cannot be told")
		return nil
	}
	return body
}

// learnDue reports whether it is time to ask the others again.
func (b *Board) learnDue(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.learnAt.IsZero() || now.Before(b.learnAt) {
		return false
	}
	b.learnAt = time.Time{}
	return true
}

// learn asks the other boards for the last hour, and takes over what it lacks from the first
// that answers. Where nobody does, the charts begin here.
func (b *Board) learn(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, learnLimit)
	defer cancel()
	body, err := b.queue.AskHistory(ctx, []byte(b.name))
	switch {
	case errors.Is(err, queue.ErrAbsent), ctx.Err() != nil:
		return
	case err == nil:
		err = b.adopt(body)
	}
	if err != nil {
		b.log.Debug().Err(err).Msg("another board's hour is of no use")
	}
}

func (b *Board) adopt(body []byte) error {
	var h History
	if err := json.Unmarshal(body, &h); err != nil {
		return fmt.Errorf("decode history: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hour.Merge(h, b.whole, time.Now())
}
