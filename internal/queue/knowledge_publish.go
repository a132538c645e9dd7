package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// PublishDraft puts the draft's changes into force over version v, which its author saw.
// What is changed meanwhile stays in the draft. ErrLost: another version was published;
// ErrNotFound: the draft has no changes; ErrFull: more than most documents would be there.
func (q *Queue) PublishDraft(ctx context.Context, v KnowledgeVersion, most int, by Authorship) (KnowledgeVersion, error) {
	changes, through, err := q.draft(ctx, v)
	if err != nil {
		return v, err
	}
	if len(changes) == 0 {
		return v, fmt.Errorf("publish the draft: no changes: %w", ErrNotFound)
	}
	before, err := q.Documents(ctx, v)
	if err != nil {
		return v, err
	}
	after := Apply(before, changes)
	if len(after) > most {
		return v, fmt.Errorf("publish the draft: %d documents, at most %d: %w", len(after), most, ErrFull)
	}
	return q.putVersion(ctx, v, after, through, by)
}

// PublishDocuments puts documents into force in place of those of version v. The draft
// stays as it is. ErrLost: another version was published.
func (q *Queue) PublishDocuments(ctx context.Context, v KnowledgeVersion, documents []Document, by Authorship) (KnowledgeVersion, error) {
	return q.putVersion(ctx, v, Apply(documents, nil), v.Through, by)
}

// RollbackKnowledge publishes the documents of an earlier version anew. The draft stays as
// it is. ErrLost: another version was published since v; ErrNotFound: there is none of
// that rev.
func (q *Queue) RollbackKnowledge(ctx context.Context, v KnowledgeVersion, rev uint64, by Authorship) (KnowledgeVersion, error) {
	old, err := q.KnowledgeAt(ctx, rev)
	if err != nil {
		return v, err
	}
	by.From = old.Rev
	old.Authorship, old.Through = by, v.Through
	return q.enforce(ctx, v, old)
}

// Apply returns documents, by name, as changes make them.
func Apply(documents []Document, changes []Change) []Document {
	after := map[string]Document{}
	for _, d := range documents {
		after[d.Name] = d
	}
	for _, c := range changes {
		if delete(after, c.Name); !c.Removed {
			after[c.Name] = c.Document
		}
	}
	all := make([]Document, 0, len(after))
	for _, d := range after {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Document) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (q *Queue) putVersion(ctx context.Context, v KnowledgeVersion, documents []Document, through uint64, by Authorship) (KnowledgeVersion, error) {
	pages, err := q.keepPages(ctx, documents)
	if err != nil {
		return v, err
	}
	next := KnowledgeVersion{Authorship: by, Documents: len(documents), Pages: pages, Through: through}
	for _, d := range documents {
		next.Size += int64(d.Size)
	}
	return q.enforce(ctx, v, next)
}

// enforce writes the version that is in force from now on, over the one that its author saw.
func (q *Queue) enforce(ctx context.Context, v, next KnowledgeVersion) (KnowledgeVersion, error) {
	next.At = time.Now().UTC()
	body, err := json.Marshal(next)
	if err != nil {
		return v, fmt.Errorf("encode a version of the knowledge: %w", err)
	}
	err = decided(ctx, func() (err error) {
		next.Rev, err = q.knowledge.Update(ctx, currentKey, body, v.Rev)
		return err
	})
	if outpaced(err) {
		return v, fmt.Errorf("publish the knowledge: %w", ErrLost)
	}
	if err != nil {
		return v, refusal("publish the knowledge", err)
	}
	return next, nil
}
