package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
)

// lineMarks is how a line of a batch is marked: nothing while it waits.
var lineMarks = map[chat.Status]byte{
	chat.Running: 'r', chat.Answered: 'a', chat.Failed: 'f', chat.Cancelled: 'c',
}

const unmarked = '-'

func markEnded(m byte) bool { return m == 'a' || m == 'f' || m == 'c' }

// markLine marks the end of a line: after this its batch counts it.
func (q *Queue) markLine(ctx context.Context, t *chat.Ticket) error {
	if err := q.before(LineMark, t.ID); err != nil {
		return err
	}
	return q.marks.set(ctx, q, t.Batch, t.Line, lineMarks[t.Status])
}

// noteLine marks that a line runs, or runs no more. Nothing rests on it but what is shown
// of the batch: the end of the line is marked whatever was noted before.
func (q *Queue) noteLine(ctx context.Context, t *chat.Ticket) {
	if t.Batch == "" {
		return
	}
	mark, found := lineMarks[t.Status]
	if !found {
		mark = unmarked
	}
	if err := q.marks.set(ctx, q, t.Batch, t.Line, mark); err != nil {
		q.log.Debug().Err(err).Str("ticket", t.ID).Msg("a line's state is not shown")
	}
}

// lineEnded reports whether a line whose ticket is missing has ended.
func (q *Queue) lineEnded(ctx context.Context, t *chat.Ticket) (bool, error) {
	b, err := q.Batch(ctx, t.Batch)
	if errors.Is(err, ErrNotFound) || err == nil && b.EndedAt != nil {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	marks, _, err := q.readMarks(ctx, t.Batch, chunkOf(t.Line))
	return err == nil && markEnded(marks[placeOf(t.Line)]), err
}

// LinesEnded returns which of the first lines after a line have ended without a gap: up
// to the one that it returns. It looks at most at the lines of one chunk.
func (q *Queue) LinesEnded(ctx context.Context, b Batch, after int) (int, error) {
	if b.EndedAt != nil {
		return b.Total, nil
	}
	if settled := min(b.Settled*chunkLines, b.Total); after < settled {
		return settled, nil
	}
	marks, _, err := q.readMarks(ctx, b.ID, chunkOf(after+1))
	if err != nil {
		return after, err
	}
	last := after
	for last < b.Total && chunkOf(last+1) == chunkOf(after+1) && markEnded(marks[placeOf(last+1)]) {
		last++
	}
	return last, nil
}

// OpenLines returns lines that have tickets and have not ended, the first ones, at most
// limit of them.
func (q *Queue) OpenLines(ctx context.Context, b Batch, limit int) (open []int, err error) {
	for chunk := b.Settled; chunk*chunkLines < b.Cursor && len(open) < limit; chunk++ {
		marks, _, err := q.readMarks(ctx, b.ID, chunk)
		if err != nil {
			return nil, err
		}
		for place, mark := range marks {
			if line := chunk*chunkLines + place + 1; line <= b.Cursor && !markEnded(mark) && len(open) < limit {
				open = append(open, line)
			}
		}
	}
	return open, nil
}

// CancelLine ends the line of a batch that was stopped: its ticket, or where it has none
// yet, one that is made as cancelled. One that has ended has its last steps repeated.
func (q *Queue) CancelLine(ctx context.Context, t chat.Ticket, reason chat.Reason, now time.Time) error {
	for range appendTries {
		s, err := q.Ticket(ctx, t.ID)
		switch {
		case errors.Is(err, ErrNotFound):
			err = q.createCancelled(ctx, t, reason, now)
		case err == nil && s.Status.Ended():
			err = q.complete(ctx, cancelSteps, s, nil)
		case err == nil:
			_, err = q.Cancel(ctx, t.ID, reason, now)
		}
		if errors.Is(err, ErrLost) || errors.Is(err, ErrEnded) {
			continue // somebody else ended it: its last steps are repeated
		}
		if errors.Is(err, ErrInEffect) {
			return nil // it does what cannot be undone, and ends by itself
		}
		return err
	}
	return fmt.Errorf("cancel line %d of batch %s: met another writer %d times", t.Line, t.Batch, appendTries)
}

// createCancelled makes the ticket of a line that never entered its lane.
func (q *Queue) createCancelled(ctx context.Context, t chat.Ticket, reason chat.Reason, now time.Time) error {
	ended, err := q.lineEnded(ctx, &t)
	if err != nil || ended {
		return err
	}
	t.Cancel(reason, now)
	s, err := q.create(ctx, CancelTicket, t)
	if err != nil {
		return err
	}
	// It has no lane message that would come again: the mark is the last step.
	if err := q.tell(ctx, CancelStory, &s.Ticket); err != nil {
		return err
	}
	return q.markLine(ctx, &s.Ticket)
}
