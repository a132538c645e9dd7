package queue

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
)

// Admit brings the ticket of a job that just came to the state in which it can wait:
// queued, with its event in the talk log, whatever the intake or a former holder
// left undone. A taking that came to nothing is noted among its failures. ErrEnded: it
// had ended; its last steps are repeated and the lane message is gone. Any other error
// leaves the job to its holder, who hands it back.
func (q *Queue) Admit(ctx context.Context, j *Job) (Stored, error) {
	s, err := q.Ticket(ctx, j.Ticket.ID)
	if errors.Is(err, ErrNotFound) {
		s, err = q.restore(ctx, j)
	}
	if err != nil {
		return s, err
	}
	if s.LaneSeq == 0 {
		s.LaneSeq = j.seq
	}
	if s.Status == chat.Accepting {
		if s, err = q.settle(ctx, s); err != nil {
			return s, err
		}
	}
	switch {
	case s.Status.Ended():
		return s, errors.Join(ErrEnded, q.complete(ctx, endSteps, s, j))
	case s.Status == chat.Running:
		// Its holder is dead or was thought dead: the lane gave the job to us.
		s.Fail("its holder died or left it", time.Now().UTC())
		return q.requeue(ctx, s)
	case s.Handoff != nil:
		return s, q.handed(ctx, s)
	}
	return s, nil
}

// Finish completes the end of a job's ticket that somebody wrote, and returns the ticket as
// it ended. ErrLost: the ticket is open, and another holder has it.
func (q *Queue) Finish(ctx context.Context, j *Job) (Stored, error) {
	s, err := q.Ticket(ctx, j.Ticket.ID)
	if err != nil {
		return s, err
	}
	if !s.Status.Ended() {
		return s, ErrLost
	}
	return q.completed(ctx, endSteps, s, j)
}

// restore recreates a ticket that is missing from its lane message, unless the talk
// log shows that it ended.
func (q *Queue) restore(ctx context.Context, j *Job) (Stored, error) {
	s, err := q.recreate(ctx, &j.Ticket)
	if errors.Is(err, ErrEnded) {
		err = errors.Join(err, q.ack(ctx, EndLane, j))
	}
	return s, err
}

// recreate makes a missing ticket anew, as accepting. ErrEnded: it ended.
func (q *Queue) recreate(ctx context.Context, accepted *chat.Ticket) (Stored, error) {
	ended, err := q.hadEnded(ctx, accepted)
	if err != nil {
		return Stored{}, err
	}
	if ended {
		return Stored{Ticket: *accepted}, ErrEnded
	}
	t := *accepted
	t.Status = chat.Accepting
	s, err := q.create(ctx, IntakeTicket, t)
	if errors.Is(err, ErrLost) {
		return q.Ticket(ctx, t.ID)
	}
	return s, err
}

// hadEnded reports whether a ticket that is missing ended: the talk log shows that, or for
// a line its batch.
func (q *Queue) hadEnded(ctx context.Context, t *chat.Ticket) (bool, error) {
	if t.Batch != "" {
		return q.lineEnded(ctx, t)
	}
	final, _, err := q.last(ctx, talkSubject(t, slotFinal))
	return final != nil, err
}

// Take makes a waiting ticket run: the attempt rises, and every later write of this
// holder names it by the revision. ErrLost: somebody changed the ticket meanwhile.
func (q *Queue) Take(ctx context.Context, s Stored, now time.Time) (Stored, error) {
	s.Status = chat.Running
	s.Attempts++
	s.DecidedAt, s.StartedAt = &now, &now
	done, err := q.write(ctx, TakeTicket, s)
	if err == nil {
		q.noteLine(ctx, &done.Ticket)
	}
	return done, err
}

// HandBack makes a running ticket wait again without counting the attempt, and gives
// its job to whoever pulls next.
func (q *Queue) HandBack(ctx context.Context, j *Job, s Stored) error {
	s.Attempts--
	_, err := q.requeue(ctx, s)
	j.HandBack(0)
	return err
}

// Rest makes a running ticket wait again in the hands of its holder, its attempt counted.
func (q *Queue) Rest(ctx context.Context, s Stored) (Stored, error) { return q.requeue(ctx, s) }

// Postpone makes a running ticket wait again, its attempt counted, and gives its job to
// whoever pulls after delay.
func (q *Queue) Postpone(ctx context.Context, j *Job, s Stored, delay time.Duration) error {
	_, err := q.requeue(ctx, s)
	j.HandBack(delay)
	return err
}

func (q *Queue) requeue(ctx context.Context, s Stored) (Stored, error) {
	s.Status = chat.Queued
	s.DecidedAt, s.StartedAt = nil, nil
	done, err := q.write(ctx, BackTicket, s)
	if err == nil {
		q.noteLine(ctx, &done.Ticket)
	}
	return done, err
}
