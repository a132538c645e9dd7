package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// FAQNote is a small document beside the FAQ that processes change together.
type FAQNote string

// The notes.
const (
	FAQMissed FAQNote = "missed" // questions that no entry answered
	FAQDrafts FAQNote = "drafts" // phrasings that a vendor was asked for
)

// maxNote is the room that a note has, in bytes: what any server takes in one message.
const maxNote = 1 << 20

// noteTries bounds how often a change begins again after meeting another writer.
const noteTries = 20

// ChangeNote has a note changed over what is stored, nil where there is none yet. change
// may be called several times; what it returns unchanged is not written. ErrLost: others
// were faster each time. ErrLarge: it has become too large.
func (f *FAQStore) ChangeNote(ctx context.Context, n FAQNote, change func(stored []byte) ([]byte, error)) error {
	for range noteTries {
		before, place, err := f.note(ctx, n)
		if err != nil {
			return err
		}
		after, err := change(before)
		if err != nil || string(after) == string(before) {
			return err
		}
		if len(after) > maxNote {
			return fmt.Errorf("store %d bytes of %s beside the faq, at most %d: %w", len(after), n, maxNote, ErrLarge)
		}
		err = decided(ctx, func() error {
			_, err := f.q.faq.Update(ctx, string(n), after, place)
			return err
		})
		if err == nil {
			return nil
		}
		if !outpaced(err) {
			return refusal("store "+string(n)+" beside the faq", err)
		}
	}
	return fmt.Errorf("store %s beside the faq: %w", n, ErrLost)
}

// Note returns a note; nil: there is none.
func (f *FAQStore) Note(ctx context.Context, n FAQNote) ([]byte, error) {
	stored, _, err := f.note(ctx, n)
	return stored, err
}

func (f *FAQStore) note(ctx context.Context, n FAQNote) ([]byte, uint64, error) {
	entry, err := f.q.faq.Get(ctx, string(n))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read %s beside the faq: %w", n, err)
	}
	return entry.Value(), entry.Revision(), nil
}
