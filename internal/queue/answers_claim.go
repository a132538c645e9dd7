package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Times of a claim on an answer. Its holder says every claimBeat that it is there, and may
// be silent for claimTTL: then the next one works on the answer. How work ended that came
// to nothing is remembered for failedFor, and of an answer for one customer for unfitFor.
const (
	claimBeat  = time.Second
	claimTTL   = 4 * time.Second
	failedFor  = 5 * time.Second
	unfitFor   = time.Minute
	claimLimit = 2 * time.Second // for the write of its end
)

func answerClaimKey(key string) string { return "claim." + key }

// made is where it is told that the work on an answer has ended.
func madeSubject(key string) string { return "made." + key }

// ClaimAnswer claims the work on the answer of a key: of all processes that try at one
// time one gets end, the others nil, and nil where work on it came to nothing a moment ago
// (FollowAnswer tells). The claim stands until end is called, which must be, and is given
// to the next one 4 s after this process has died. end waits until it is written, at most
// 2 s, and a claim that was lost meanwhile changes nothing: the answer is only made twice.
func (q *Queue) ClaimAnswer(ctx context.Context, key string) (end func(chat.Making), err error) {
	var rev uint64
	err = decided(ctx, func() (err error) {
		rev, err = q.answers.Create(ctx, answerClaimKey(key), []byte(chat.MakingNow), jetstream.KeyTTL(claimTTL))
		return err
	})
	if outpaced(err) {
		return nil, nil
	}
	if err != nil {
		return nil, refusal("claim an answer", err)
	}
	c := &answerClaim{queue: q, key: key, rev: rev}
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	var beats sync.WaitGroup
	beats.Go(func() { c.beat(beating) })
	return func(how chat.Making) {
		stop()
		beats.Wait()
		if err := c.end(how); err != nil {
			q.log.Warn().Err(err).Msg("the end of a claim on an answer is not told: it lapses")
		}
	}, nil
}

// answerClaim is the right to work on an answer. One goroutine uses it at a time.
type answerClaim struct {
	queue *Queue
	key   string
	rev   uint64
	lost  bool
}

// beat renews the claim until ctx ends or it is lost.
func (c *answerClaim) beat(ctx context.Context) {
	ticker := time.NewTicker(claimBeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		sending, cancel := context.WithTimeout(ctx, claimBeat)
		err := c.write(sending, chat.MakingNow, claimTTL)
		cancel()
		if outpaced(err) {
			c.lost = true
			return
		}
	}
}

func (c *answerClaim) write(ctx context.Context, state chat.Making, ttl time.Duration) error {
	msg := &nats.Msg{Subject: bucketSubject(answerBucket, answerClaimKey(c.key)), Data: []byte(state)}
	return decided(ctx, func() error {
		ack, err := c.queue.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(c.rev), jetstream.WithMsgTTL(ttl))
		if err == nil {
			c.rev = ack.Sequence
		}
		return err
	})
}

// end writes how the work ended and tells who waits.
func (c *answerClaim) end(how chat.Making) error {
	if c.lost {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), claimLimit)
	defer cancel()
	var err error
	switch how {
	case chat.MakingFailed:
		err = c.write(ctx, how, failedFor)
	case chat.MakingUnfit:
		err = c.write(ctx, how, unfitFor)
	default:
		err = c.queue.answers.Purge(ctx, answerClaimKey(c.key), jetstream.LastRevision(c.rev), jetstream.PurgeTTL(time.Minute))
	}
	if err != nil && !outpaced(err) {
		return fmt.Errorf("end a claim: %w", err)
	}
	return c.queue.send(madeSubject(c.key), nil)
}

// claimState returns how the work on an answer stands.
func (q *Queue) claimState(ctx context.Context, key string) (chat.Making, error) {
	entry, err := q.answers.Get(ctx, answerClaimKey(key))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return chat.MakingLeft, nil
	}
	if err != nil {
		return "", fmt.Errorf("read a claim on an answer: %w", err)
	}
	return chat.Making(entry.Value()), nil
}
