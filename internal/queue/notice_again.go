package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
)

// ErrNotAgain says that a notice must not be sent again.
var ErrNotAgain = errors.New("the notice must not be sent again")

// SendAgain has a notice sent once more that failed or is unknown, and returns it as it waits
// for that. Whoever looks after the outbox does the rest: what may have reached a carrier is
// looked up there first. Errors: ErrNotFound; ErrNotAgain, with why and the notice.
func (q *Queue) SendAgain(ctx context.Context, id string, now time.Time) (n chat.Notice, why string, err error) {
	for range appendTries {
		if n, err = q.Notice(ctx, id); err != nil {
			return n, "", err
		}
		why, ok := n.SendAgain(now)
		if !ok {
			return n, why, fmt.Errorf("send notice %s again: %w", id, ErrNotAgain)
		}
		n, done, err := q.setNotice(ctx, NoticeAgain, n)
		if err != nil || done {
			return n, "", err
		}
	}
	return n, "", fmt.Errorf("write notice %s: met another writer %d times", id, appendTries)
}
