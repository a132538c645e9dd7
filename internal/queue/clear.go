package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// How many tickets one step ends, how many of them at a time, how often the requests are
// looked at, and how long one must not have moved before another process goes on with it.
const (
	clearStep  = 64
	clearWidth = 16
	clearEvery = time.Second
	clearStale = 3 * time.Second
)

// clearLane works off the requests to clear a lane until ctx ends: one made here at once,
// another process's when it has stopped moving.
func (l *Lanes) clearLane(ctx context.Context, lane chat.Lane) {
	var seen uint64
	var seenAt time.Time
	every(ctx, clearEvery, l.asked[lane], func() {
		c, err := l.queue.Clearing(ctx, lane)
		if err != nil || c.Done {
			return // one that cannot be read now is read again soon
		}
		if seen != c.Rev {
			seen, seenAt = c.Rev, time.Now()
		}
		if !l.isMine(&c) && time.Since(seenAt) < clearStale {
			return
		}
		if err := l.clear(ctx, &c); err != nil && !errors.Is(err, ErrLost) && ctx.Err() == nil {
			l.rest.Warn().Err(err).Str("lane", string(lane)).Msg("clear the lane, trying again")
		}
	})
}

// clear works on a request until it is done. ErrLost: another process is at it.
func (l *Lanes) clear(ctx context.Context, c *Clearing) error {
	if c.Way == ClearByAnswer && l.cfg.Answer == nil {
		return nil
	}
	for !c.Done {
		step := l.queue.nextStep
		if len(c.Step) > 0 {
			step = l.endStep
		}
		if err := step(ctx, c); err != nil {
			return err
		}
		// The next step is written before it is touched, so that whoever goes on after a
		// death counts it too.
		if err := l.queue.setClearing(ctx, c); err != nil {
			return err
		}
		l.own(c)
	}
	l.log.Info().Str("lane", string(c.Lane)).Str("way", string(c.Way)).Int("ended", c.Ended).Int("left", c.Left).Msg("lane cleared")
	return nil
}

// nextStep looks for the next tickets of the lane. Where there are none, the request is
// done, and the audit hears what came of it.
func (q *Queue) nextStep(ctx context.Context, c *Clearing) error {
	for len(c.Step) < clearStep && c.Next <= c.Until {
		raw, err := q.lanes[c.Lane].GetMsg(ctx, c.Next, jetstream.WithGetMsgSubject(laneFilter(c.Lane)))
		if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && raw.Sequence > c.Until {
			c.Next = c.Until + 1
			break
		}
		if err != nil {
			return fmt.Errorf("look for what waits in %s: %w", c.Lane, err)
		}
		c.Next = raw.Sequence + 1
		var t chat.Ticket
		if json.Unmarshal(raw.Data, &t) == nil { // a pull removes what cannot be read
			c.Step = append(c.Step, placed{ID: t.ID, Seq: raw.Sequence})
		}
	}
	if len(c.Step) > 0 {
		return nil
	}
	c.Done = true
	return q.Note(ctx, Audit{
		At: time.Now().UTC(), Actor: c.Actor, Action: "lane." + string(c.Way), Target: string(c.Lane), Reason: c.Reason,
		Result: fmt.Sprintf("done: ended %d, left %d to their vendor, %d ended otherwise", c.Ended, c.Left, c.Gone),
	})
}

// endStep ends the tickets in hand, several at a time, and counts what came of them.
func (l *Lanes) endStep(ctx context.Context, c *Clearing) error {
	var (
		work   sync.WaitGroup
		mu     sync.Mutex
		faults error
		counts = map[outcome]int{}
		places = make(chan placed)
	)
	for range min(clearWidth, len(c.Step)) {
		work.Go(func() {
			for p := range places {
				came, err := l.queue.endWaiting(ctx, c, p, l.cfg.Answer)
				mu.Lock()
				counts[came]++
				faults = errors.Join(faults, err)
				mu.Unlock()
			}
		})
	}
	for _, p := range c.Step {
		places <- p
	}
	close(places)
	work.Wait()
	if faults != nil {
		return faults
	}
	c.Ended, c.Left, c.Gone, c.Step = c.Ended+counts[endedNow], c.Left+counts[leftRunning], c.Gone+counts[goneBefore], nil
	return nil
}

// outcome is what came of one ticket.
type outcome int

const (
	endedNow outcome = iota
	leftRunning
	goneBefore
)

// endWaiting ends a ticket from outside unless a vendor works on it: the ticket first,
// then the nudge that makes its holder let go, the final event, the story, and last the
// lane message.
func (q *Queue) endWaiting(ctx context.Context, c *Clearing, p placed, answer func(*chat.Ticket, chat.Reason) chat.Answer) (outcome, error) {
	for range appendTries {
		s, err := q.Ticket(ctx, p.ID)
		if errors.Is(err, ErrNotFound) {
			s, err = q.regain(ctx, c.Lane, p)
		}
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrEnded):
			return goneBefore, nil
		case errors.Is(err, ErrLost):
			continue
		case err != nil:
			return goneBefore, err
		case s.Status.Ended() && c.did(&s.Ticket):
			return endedNow, nil
		case s.Status.Ended():
			return goneBefore, nil
		case s.Status == chat.Running || s.Deed != nil: // or will run: it sees to what cannot be undone
			return leftRunning, nil
		}
		if s.LaneSeq == 0 {
			s.LaneSeq = p.Seq
		}
		c.end(&s.Ticket, answer, time.Now().UTC())
		done, err := q.write(ctx, cancelSteps.ticket, s)
		if errors.Is(err, ErrLost) {
			continue
		}
		if err != nil {
			return goneBefore, err
		}
		q.flow.end(&done.Ticket)
		q.nudge(p.ID)
		// The end is written: a process that stops must not keep it from being told.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		if err := q.complete(ctx, cancelSteps, done, nil); err != nil {
			q.log.Warn().Err(err).Str("ticket", p.ID).Msg("ended, its last steps come with the job's next delivery")
		}
		return endedNow, nil
	}
	return goneBefore, fmt.Errorf("end ticket %s: met another writer %d times", p.ID, appendTries)
}

// regain recreates a ticket that is missing from its lane message. ErrEnded: the talk
// log shows that it ended, and the message is only removed. ErrNotFound: the message is
// gone too.
func (q *Queue) regain(ctx context.Context, lane chat.Lane, p placed) (Stored, error) {
	raw, err := q.lanes[lane].GetMsg(ctx, p.Seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Stored{}, fmt.Errorf("lane message of %s: %w", p.ID, ErrNotFound)
	}
	if err != nil {
		return Stored{}, fmt.Errorf("read lane message of %s: %w", p.ID, err)
	}
	var t chat.Ticket
	if err := json.Unmarshal(raw.Data, &t); err != nil {
		return Stored{}, fmt.Errorf("decode lane message of %s: %w", p.ID, err)
	}
	ended, err := q.hadEnded(ctx, &t)
	if err != nil {
		return Stored{}, err
	}
	t.LaneSeq = p.Seq
	if ended {
		return Stored{}, errors.Join(ErrEnded, q.discard(ctx, CancelLane, &t))
	}
	t.Status = chat.Accepting
	return q.create(ctx, IntakeTicket, t)
}
