package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
)

// steps names the write points of one way to end.
type steps struct{ ticket, event, story, lane Point }

var (
	endSteps    = steps{EndTicket, EndEvent, EndStory, EndLane}
	cancelSteps = steps{CancelTicket, CancelEvent, CancelStory, CancelLane}
)

// End writes the end that s carries: the ticket with its whole reply, the final
// event, the story, and last the acknowledgement of the lane message. ErrLost: the
// ticket was ended or taken by somebody else, and nothing of this end was written.
// Any other error leaves the lane message, so that a redelivery completes the end. The
// ticket is returned as it ended: another way than s where a person took its session over.
func (q *Queue) End(ctx context.Context, j *Job, s Stored) (Stored, error) {
	done, err := q.write(ctx, endSteps.ticket, s)
	if err != nil {
		return s, err
	}
	q.flow.end(&done.Ticket)
	return q.completed(ctx, endSteps, done, j)
}

// Cancel ends an open ticket at now: the ticket first, then the nudge that stops
// whoever runs it, the final event, and last the lane message. ErrEnded: it had ended.
// ErrInEffect: it has set out to do what cannot be undone.
func (q *Queue) Cancel(ctx context.Context, id string, reason chat.Reason, now time.Time) (chat.Ticket, error) {
	for range appendTries {
		s, err := q.Ticket(ctx, id)
		if err != nil {
			return chat.Ticket{}, err
		}
		if s.Status.Ended() {
			return s.Ticket, fmt.Errorf("cancel ticket %s: %w", id, ErrEnded)
		}
		if s.Deed != nil {
			return s.Ticket, fmt.Errorf("cancel ticket %s: %w", id, ErrInEffect)
		}
		s.Ticket.Cancel(reason, now)
		done, err := q.write(ctx, cancelSteps.ticket, s)
		if errors.Is(err, ErrLost) {
			continue
		}
		if err != nil {
			return s.Ticket, err
		}
		q.flow.end(&done.Ticket)
		q.nudge(id)
		// The end is written: a caller who leaves must not keep it from being told.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		if err := q.complete(ctx, cancelSteps, done, nil); err != nil {
			q.log.Warn().Err(err).Str("ticket", id).Msg("cancelled, its last steps come with the job's next delivery")
		}
		return done.Ticket, nil
	}
	return chat.Ticket{}, fmt.Errorf("cancel ticket %s: met another writer %d times", id, appendTries)
}

// complete repeats what follows the end of a ticket; each step is done at most once.
// Without a job the lane message is deleted instead of acknowledged. A ticket that is
// cancelled before its own message reached the talk log gets that event first. An answer that
// came after a person took the session over is told as a cancel. A dead letter is kept before
// the story is told, which shows that it was.
func (q *Queue) complete(ctx context.Context, p steps, s Stored, j *Job) error {
	_, err := q.completed(ctx, p, s, j)
	return err
}

// completed is complete, and returns the ticket as it ended.
func (q *Queue) completed(ctx context.Context, p steps, s Stored, j *Job) (Stored, error) {
	if s.Seq == 0 && s.Parent == "" && s.Batch == "" {
		if _, err := q.appendEvent(ctx, IntakeEvent, &s.Ticket, slotIn); err != nil {
			return s, err
		}
	}
	if s.Handoff != nil && s.Handoff.Text != "" {
		if err := q.handed(ctx, s); err != nil {
			return s, err
		}
	}
	err := q.tellEnd(ctx, p.event, &s.Ticket)
	if errors.Is(err, errOverruled) {
		if s, err = q.overrule(ctx, s); err == nil {
			err = q.tellEnd(ctx, p.event, &s.Ticket)
		}
	}
	if err != nil {
		return s, err
	}
	if s.Handoff != nil && s.Handoff.Text == "" {
		if err := q.handed(ctx, s); err != nil {
			return s, err
		}
	}
	if s.Dead {
		if err := q.bury(ctx, &s.Ticket); err != nil {
			return s, err
		}
	}
	if err := q.announceEnd(ctx, &s.Ticket); err != nil {
		return s, err
	}
	if err := q.tell(ctx, p.story, &s.Ticket); err != nil {
		return s, err
	}
	if j == nil {
		return s, q.discard(ctx, p.lane, &s.Ticket)
	}
	return s, q.ack(ctx, p.lane, j)
}

// tellEnd writes the final event, and what the end means for a promise; of a line of a
// batch it only marks that it ended.
func (q *Queue) tellEnd(ctx context.Context, p Point, t *chat.Ticket) error {
	if t.Batch != "" {
		return q.markLine(ctx, t)
	}
	if t.Reason == chat.ReasonUnpromised {
		return q.forgetPromise(ctx, t)
	}
	seq, err := q.appendEvent(ctx, p, t, slotFinal)
	if err != nil {
		return err
	}
	if t.FollowUp != "" {
		return q.tellPromised(ctx, t)
	}
	if t.Parent != "" {
		return q.followedUp(ctx, t, seq)
	}
	return nil
}

// tell puts the ended ticket into the stories, once.
func (q *Queue) tell(ctx context.Context, p Point, t *chat.Ticket) error {
	if err := q.before(p, t.ID); err != nil {
		return err
	}
	return q.keepOnce(ctx, storySubject(t), "tell the story of "+t.ID, t)
}
