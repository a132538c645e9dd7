package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Source is a stream that the recorder projects into the ledger.
type Source string

// The recorder's sources.
const (
	Stories Source = storyStream // ended tickets
	Talks   Source = talkStream  // durable events
)

// Record is one message for the recorder: an ended ticket or an event of the talk log.
type Record struct {
	Tenant, Session string
	Ticket          []byte    // JSON of the ended ticket, or nil
	Event           []byte    // JSON of the event, or nil
	Rev             uint64    // grows within the stream
	At              time.Time // when it was stored
	msg             jetstream.Msg
}

// Done acknowledges the record after it has been committed.
func (r *Record) Done() error { return r.msg.Ack() }

// Retry gives the record back; it comes again after delay.
func (r *Record) Retry(delay time.Duration) { _ = r.msg.NakWithDelay(delay) }

// Records returns up to max unrecorded messages of a source, waiting at most wait for
// the first. A record that is neither Done nor retried comes again after 30 s.
func (q *Queue) Records(ctx context.Context, src Source, max int, wait time.Duration) ([]*Record, error) {
	stream := q.story
	if src == Talks {
		stream = q.talk
	}
	cons, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: recordConsumer, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: 30 * time.Second, MaxAckPending: 4 * max, MaxDeliver: -1,
	})
	if err != nil {
		return nil, fmt.Errorf("open recorder of %s: %w", src, err)
	}
	batch, err := cons.Fetch(max, jetstream.FetchMaxWait(wait)) // left earlier, it could be sent what nobody sees for 30 s
	if err != nil {
		return nil, fmt.Errorf("read records of %s: %w", src, err)
	}
	var all []*Record
	for msg := range batch.Messages() {
		meta, err := msg.Metadata()
		part := strings.Split(msg.Subject(), ".")
		if err != nil || len(part) < 3 {
			q.log.Error().Err(err).Str("subject", msg.Subject()).Msg("record cannot be read, skipped")
			_ = msg.Term()
			continue
		}
		r := &Record{Tenant: part[1], Rev: meta.Sequence.Stream, At: meta.Timestamp, msg: msg}
		if src == Talks {
			r.Session, r.Event = part[2], msg.Data()
		} else {
			r.Ticket = msg.Data()
		}
		all = append(all, r)
	}
	if err := batch.Error(); err != nil && len(all) == 0 && ctx.Err() == nil && !errors.Is(err, jetstream.ErrNoMessages) {
		return nil, fmt.Errorf("read records of %s: %w", src, err)
	}
	return all, nil
}

// Unrecorded returns how many messages of both sources the ledger does not have yet.
func (q *Queue) Unrecorded(ctx context.Context) (int, error) {
	total := 0
	for _, stream := range []jetstream.Stream{q.story, q.talk} {
		cons, err := stream.Consumer(ctx, recordConsumer)
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			info, err := stream.Info(ctx)
			if err != nil {
				return 0, fmt.Errorf("read recorder's lag: %w", err)
			}
			total += int(info.State.Msgs)
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("read recorder's lag: %w", err)
		}
		info := cons.CachedInfo()
		total += int(info.NumPending) + info.NumAckPending
	}
	return total, nil
}

// Lag returns the age at now of the oldest message of both sources that the ledger does not
// have yet; 0: it has all.
func (q *Queue) Lag(ctx context.Context, now time.Time) (time.Duration, error) {
	var lag time.Duration
	for _, stream := range []jetstream.Stream{q.story, q.talk} {
		done := uint64(0)
		cons, err := stream.Consumer(ctx, recordConsumer)
		if err == nil {
			done = cons.CachedInfo().AckFloor.Stream
		} else if !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return 0, fmt.Errorf("read recorder's lag: %w", err)
		}
		oldest, err := stream.GetMsg(ctx, done+1, jetstream.WithGetMsgSubject(">"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("read recorder's lag: %w", err)
		}
		lag = max(lag, now.Sub(oldest.Time))
	}
	return lag, nil
}
