package api

import (
	"context"
	"slices"
	"time"

	"sluice/internal/chat"
)

const (
	maxPoll = 60 * time.Second
	// pollBuffer is how far a long poll may fall behind its session; it only counts
	// what goes by, and a poll that overflows reads the present state.
	pollBuffer = 64
)

// parseWait reads the wait parameter of a long poll.
func parseWait(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(s)
	if err != nil || wait < 0 || wait > maxPoll {
		return 0, chat.Bad("wait", "must be a duration from 0s to %s, such as 20s", maxPoll)
	}
	return wait, nil
}

// poll takes one of the places for long polls, or refuses.
func (a *API) poll() (leave func(), err error) {
	select {
	case a.polls <- struct{}{}:
		return func() { <-a.polls }, nil
	default:
		return nil, &chat.Error{
			Kind: chat.Overloaded, Code: codePolls, RetryAfter: time.Second,
			Detail: "too many long polls wait; ask without wait, or again later",
		}
	}
}

// awaitEnd waits until the ticket has probably ended; the caller reads it again.
func (a *API) awaitEnd(ctx context.Context, t *chat.Ticket, wait time.Duration) error {
	leave, err := a.poll()
	if err != nil {
		return err
	}
	defer leave()
	l := a.hub.listen(t.Tenant, t.Session, pollBuffer)
	defer l.close()
	// Read after listening began: an end before that is in the ticket, one after it in l.
	s, err := a.deps.Queue.Ticket(ctx, t.ID)
	if err != nil {
		return unavailable(err)
	}
	if s.Status.Ended() {
		return nil
	}
	return a.await(ctx, l, wait, func(e *chat.Event) bool { return e.Ticket == t.ID && e.Status.Ended() })
}

// await waits until the listener hears an event that found likes, cannot promise to
// hear it, or the time is over.
func (a *API) await(ctx context.Context, l *listener, wait time.Duration, found func(*chat.Event) bool) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-l.Bell:
			items, open := l.take()
			if !open || slices.ContainsFunc(items, func(it item) bool { return it.Event != nil && found(it.Event) }) {
				return nil
			}
		case <-timer.C:
			return nil
		case <-a.stopping:
			return nil
		case <-ctx.Done():
			return unavailable(ctx.Err())
		}
	}
}
