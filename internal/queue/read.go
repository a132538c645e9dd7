package queue

import (
	"context"
	"errors"
)

// Read notes that the customer has read a session's events up to seq. It never goes back,
// and never beyond the newest event.
func (q *Queue) Read(ctx context.Context, tenant, session string, seq uint64) error {
	_, err := q.ChangeSession(ctx, tenant, session, func(s *Session) bool {
		seq := min(seq, s.Seq)
		if seq <= s.Read {
			return false
		}
		s.Read = seq
		return true
	})
	return err
}

// readUpTo returns the seq of the newest event that the customer has read, 0: none.
func (q *Queue) readUpTo(ctx context.Context, tenant, session string) (uint64, error) {
	s, err := q.Session(ctx, tenant, session)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return s.Read, err
}
