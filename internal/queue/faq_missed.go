package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// faqMissed is the key of the questions that the FAQ could not answer.
const faqMissed = "missed"

// maxMissed is the room that they have, in bytes: what any server takes in one message.
const maxMissed = 1 << 20

// missedTries bounds how often a change begins again after meeting another writer.
const missedTries = 20

// ChangeMissed has the list of questions without an answer changed over what is stored,
// nil where there is none yet, and returns what is stored then. change may be called
// several times. ErrLost: others were faster each time.
func (f *FAQStore) ChangeMissed(ctx context.Context, change func(stored []byte) ([]byte, error)) ([]byte, error) {
	for range missedTries {
		before, place, err := f.missed(ctx)
		if err != nil {
			return nil, err
		}
		after, err := change(before)
		if err != nil {
			return nil, err
		}
		if len(after) > maxMissed {
			return nil, fmt.Errorf("store %d bytes of missed questions, at most %d: %w", len(after), maxMissed, ErrLarge)
		}
		err = decided(ctx, func() error {
			_, err := f.q.faq.Update(ctx, faqMissed, after, place)
			return err
		})
		if err == nil {
			return after, nil
		}
		if !outpaced(err) {
			return nil, refusal("store the missed questions", err)
		}
	}
	return nil, fmt.Errorf("store the missed questions: %w", ErrLost)
}

// Missed returns the stored list of questions without an answer; nil: there is none.
func (f *FAQStore) Missed(ctx context.Context) ([]byte, error) {
	stored, _, err := f.missed(ctx)
	return stored, err
}

func (f *FAQStore) missed(ctx context.Context) ([]byte, uint64, error) {
	entry, err := f.q.faq.Get(ctx, faqMissed)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the missed questions: %w", err)
	}
	return entry.Value(), entry.Revision(), nil
}
