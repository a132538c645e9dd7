package queue

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/internal/chat"
)

// followEvery is how often an answer that is waited for is looked at without a word that
// it is there: words may be lost, and a dead holder says none.
const followEvery = time.Second

// FollowAnswer waits while somebody works on the answer of a key, until ctx ends. It
// returns the answer with MakingGiven; MakingLeft where nobody is at it, also because the
// holder has died; MakingFailed or MakingUnfit where none is to be waited for.
func (q *Queue) FollowAnswer(ctx context.Context, key string) (chat.Kept, chat.Making, error) {
	told := make(chan struct{}, 1)
	stop, err := q.subscribe(madeSubject(key), func(*nats.Msg) {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return chat.Kept{}, "", err
	}
	defer stop()
	for {
		// The claim first: it ends after the answer is kept.
		state, err := q.claimState(ctx, key)
		if err != nil {
			return chat.Kept{}, "", err
		}
		k, found, err := q.Kept(ctx, key)
		switch {
		case err != nil:
			return chat.Kept{}, "", err
		case found:
			return k, chat.MakingGiven, nil
		case state != chat.MakingNow:
			return chat.Kept{}, state, nil
		}
		look := time.NewTimer(followEvery)
		select {
		case <-told:
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return chat.Kept{}, "", context.Cause(ctx)
		}
		look.Stop()
	}
}
