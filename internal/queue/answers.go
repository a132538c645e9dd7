package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Bounds of the bucket of answers: of more than maxAnswers keys the oldest go, and an
// answer of more than maxAnswer bytes is not kept. Together 128 MiB at most, of which
// nothing is reserved: an account's store may be small.
const (
	maxAnswers = 8192
	maxAnswer  = 16 << 10
)

// ErrTooLarge says that an answer is too long to be kept.
var ErrTooLarge = errors.New("the answer is too long to be kept")

// openAnswers makes the bucket's stream itself: the library's own way refuses new values
// where this one lets the oldest go.
func (q *Queue) openAnswers(ctx context.Context) (err error) {
	conf := bucketStream(jetstream.KeyValueConfig{
		Bucket: answerBucket, LimitMarkerTTL: time.Minute, Storage: jetstream.FileStorage, Replicas: q.cfg.Replicas,
	})
	conf.Discard, conf.MaxMsgs = jetstream.DiscardOld, maxAnswers
	q.answers, err = openStreamBucket(ctx, q.js, answerBucket, conf)
	return err
}

func answerKey(key string) string { return "answer." + key }

// Kept returns the answer that is kept under a key, fresh or not; false: none is, or none
// that may still be given. A key is two tokens, the tenant's name first.
func (q *Queue) Kept(ctx context.Context, key string) (k chat.Kept, found bool, err error) {
	entry, err := q.answers.Get(ctx, answerKey(key))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return k, false, nil
	}
	if err != nil {
		return k, false, fmt.Errorf("read a kept answer: %w", err)
	}
	if err := json.Unmarshal(entry.Value(), &k); err != nil {
		return k, false, fmt.Errorf("decode a kept answer: %w", err)
	}
	return k, time.Now().Before(k.GoneAt), nil
}

// Keep keeps an answer under a key until its GoneAt, in place of an earlier one. ErrTooLarge
// and ErrStorage: it is not kept.
func (q *Queue) Keep(ctx context.Context, key string, k chat.Kept) error {
	body, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("keep an answer of %d bytes: %w", len(body), ErrTooLarge)
	}
	ttl := time.Until(k.GoneAt)
	if ttl <= 0 {
		return nil
	}
	msg := &nats.Msg{Subject: bucketSubject(answerBucket, answerKey(key)), Data: body}
	err = decided(ctx, func() error {
		_, err := q.js.PublishMsg(ctx, msg, jetstream.WithMsgTTL(ttl.Truncate(time.Second)+time.Second))
		return err
	})
	return refusal("keep an answer", err)
}
