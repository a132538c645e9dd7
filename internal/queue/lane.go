package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// How long a lane waits for a sign of life from whoever holds a job, and how often a
// holder must give one. Three missed signs hand the job to somebody else.
const (
	AckWait   = 10 * time.Second
	Heartbeat = 3 * time.Second
)

// PullSize is the most jobs that one pull brings. A pull holds jobs that nobody looks
// after yet, so it is small.
const PullSize = 16

// publish puts the ticket into its lane, expecting none of its own there: this is the
// acceptance. It returns the stream sequence. errAccepted: it had been accepted.
func (q *Queue) publish(ctx context.Context, t *chat.Ticket) (uint64, error) {
	if err := q.before(IntakeLane, t.ID); err != nil {
		return 0, err
	}
	body, err := json.Marshal(t)
	if err != nil {
		return 0, fmt.Errorf("encode ticket %s: %w", t.ID, err)
	}
	var ack *jetstream.PubAck
	err = decided(ctx, func() (err error) {
		ack, err = q.js.Publish(ctx, laneSubject(t), body, jetstream.WithExpectLastSequencePerSubject(0))
		return err
	})
	if outpaced(err) {
		return 0, errAccepted
	}
	if err != nil {
		return 0, refusal("publish to lane "+string(t.Lane), err)
	}
	return ack.Sequence, nil
}

var errAccepted = errors.New("the message is in its lane already")

// Depth returns how many tickets of a lane are accepted and not ended.
func (q *Queue) Depth(ctx context.Context, lane chat.Lane) (int, error) {
	info, err := q.lanes[lane].Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("read depth of %s: %w", lane, err)
	}
	return int(info.State.Msgs), nil
}

// Fill is how full a lane is.
type Fill struct {
	Depth  int       // accepted and not ended
	Bound  int       // in force now
	Oldest time.Time // when its oldest ticket was accepted; zero: it is empty
}

// Fill returns how full a lane is.
func (q *Queue) Fill(ctx context.Context, lane chat.Lane) (Fill, error) {
	info, err := q.lanes[lane].Info(ctx)
	if err != nil {
		return Fill{}, fmt.Errorf("read fill of %s: %w", lane, err)
	}
	f := Fill{Depth: int(info.State.Msgs), Bound: int(info.Config.MaxMsgs)}
	if f.Depth > 0 {
		f.Oldest = info.State.FirstTime
	}
	return f, nil
}

// Job is a lane message in somebody's hands. Its holder calls Working at least each
// Heartbeat, until End, HandBack or Drop.
type Job struct {
	Ticket    chat.Ticket // as accepted; the bucket has the present state
	Delivered uint64      // how often the message was delivered, this time included
	seq       uint64
	msg       jetstream.Msg
}

// Pull takes up to max jobs from a lane and gives each to take as it comes, until wait is
// over. It does not return before, unless it has max: a pull that is left to itself may be
// sent jobs, which nobody would see until AckWait. What arrives after the end of ctx is
// handed back. take must not block.
func (q *Queue) Pull(ctx context.Context, lane chat.Lane, max int, wait time.Duration, take func(*Job)) error {
	cons, err := q.lanes[lane].Consumer(ctx, dispatchConsumer)
	if err != nil {
		return fmt.Errorf("find consumer of %s: %w", lane, err)
	}
	batch, err := cons.Fetch(min(max, PullSize), jetstream.FetchMaxWait(wait))
	if err != nil {
		return fmt.Errorf("pull from %s: %w", lane, err)
	}
	var late []*Job // handed back after the pull, which would get them again
	for msg := range batch.Messages() {
		job, err := openJob(msg)
		switch {
		case err != nil:
			q.log.Error().Err(err).Str("lane", string(lane)).Msg("lane message cannot be read, removed")
			_ = msg.TermWithReason("unreadable")
		case ctx.Err() != nil:
			late = append(late, job)
		default:
			take(job)
		}
	}
	for _, job := range late {
		job.HandBack(0)
	}
	if err := batch.Error(); err != nil && ctx.Err() == nil && !errors.Is(err, jetstream.ErrNoMessages) {
		return fmt.Errorf("pull from %s: %w", lane, err)
	}
	return nil
}

func openJob(msg jetstream.Msg) (*Job, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return nil, fmt.Errorf("read lane message: %w", err)
	}
	j := &Job{msg: msg, seq: meta.Sequence.Stream, Delivered: meta.NumDelivered}
	if err := json.Unmarshal(msg.Data(), &j.Ticket); err != nil {
		return nil, fmt.Errorf("decode lane message %d: %w", j.seq, err)
	}
	j.Ticket.LaneSeq = j.seq
	return j, nil
}

// Working tells the lane that the job is looked after. It does not wait for an answer
// and is no proof that the job is still ours: only the ticket's revision is.
func (j *Job) Working() error {
	if err := j.msg.InProgress(); err != nil && !errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
		return fmt.Errorf("give a sign of life: %w", err)
	}
	return nil
}

// HandBack gives the job to whoever pulls next, after delay. It changes no ticket.
func (j *Job) HandBack(delay time.Duration) {
	// A failed nak is no loss: the job comes back after AckWait.
	_ = j.msg.NakWithDelay(max(delay, handBackAfter))
}

// handBackAfter is the least time before a job is given to anybody: one that is handed back
// again and again is not taken more often than that.
const handBackAfter = 50 * time.Millisecond

// ack removes the lane message and frees its place. Only the writer of the end calls it.
func (q *Queue) ack(ctx context.Context, p Point, j *Job) error {
	if err := q.before(p, j.Ticket.ID); err != nil {
		return err
	}
	if err := j.msg.DoubleAck(ctx); err != nil {
		return fmt.Errorf("acknowledge %s: %w", j.Ticket.ID, err)
	}
	return nil
}

// discard deletes a ticket's lane message without holding it: by its sequence where
// that is known and still right, else by its literal subject.
func (q *Queue) discard(ctx context.Context, p Point, t *chat.Ticket) error {
	if err := q.before(p, t.ID); err != nil {
		return err
	}
	stream := q.lanes[t.Lane]
	if t.LaneSeq > 0 {
		found, err := erase(ctx, stream, t.LaneSeq)
		if err != nil {
			return fmt.Errorf("remove %s from its lane: %w", t.ID, err)
		}
		if found {
			return nil
		}
		// Gone, or stored anew by a repair under another sequence.
	}
	if err := stream.Purge(ctx, jetstream.WithPurgeSubject(laneSubject(t))); err != nil {
		return fmt.Errorf("remove %s from its lane: %w", t.ID, err)
	}
	return nil
}

// erase deletes a message by its sequence; found is false if it was gone already.
func erase(ctx context.Context, stream jetstream.Stream, seq uint64) (found bool, err error) {
	err = stream.DeleteMsg(ctx, seq)
	if err == nil {
		return true, nil
	}
	// The client hands on no code by which a missing message can be told from another
	// refusal: the store tells.
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		if _, look := stream.GetMsg(ctx, seq); errors.Is(look, jetstream.ErrMsgNotFound) {
			return false, nil
		}
	}
	return false, err
}
