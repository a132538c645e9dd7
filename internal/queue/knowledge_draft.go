package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Change is one document of the draft: what becomes of it with the next publication.
type Change struct {
	Document
	Removed bool      `json:"removed,omitempty"`
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`

	rev uint64
}

func draftKey(name string) string { return draftPrefix + hashOf([]byte(name))[:32] }

// SetDraft notes a change in the draft, over any earlier one of the same document.
func (q *Queue) SetDraft(ctx context.Context, c Change) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode a change of %s: %w", c.Name, err)
	}
	_, err = q.documents.Put(ctx, draftKey(c.Name), body)
	return refusal("note a change of "+c.Name, err)
}

// Draft returns the changes that are not in version v yet, by name.
func (q *Queue) Draft(ctx context.Context, v KnowledgeVersion) ([]Change, error) {
	changes, _, err := q.draft(ctx, v)
	return changes, err
}

// draft returns also the place up to which every change is known.
func (q *Queue) draft(ctx context.Context, v KnowledgeVersion) ([]Change, uint64, error) {
	stream, err := q.js.Stream(ctx, "KV_"+documentBucket)
	if err != nil {
		return nil, 0, fmt.Errorf("read the draft: %w", err)
	}
	through := stream.CachedInfo().State.LastSeq
	changes := []Change{}
	err = q.walk(ctx, documentBucket, draftPrefix+">", v.Through, func(raw *jetstream.RawStreamMsg) error {
		if raw.Sequence > through {
			return nil
		}
		c := Change{rev: raw.Sequence}
		if err := json.Unmarshal(raw.Data, &c); err != nil {
			return fmt.Errorf("decode a change of the draft: %w", err)
		}
		changes = append(changes, c)
		return nil
	})
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	return changes, through, err
}
