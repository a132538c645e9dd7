package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// youngFor is how long a text is kept that nothing refers to yet: whoever stored it is
// about to.
const youngFor = time.Hour

// SweepKnowledge removes changes that are published, and texts and lists that no version,
// no change and nobody at work refers to. It returns how many went. Two at once do no harm.
func (q *Queue) SweepKnowledge(ctx context.Context, now time.Time) (int, error) {
	used, through, err := q.referred(ctx)
	if err != nil {
		return 0, err
	}
	stream, err := q.js.Stream(ctx, "KV_"+documentBucket)
	if err != nil {
		return 0, fmt.Errorf("sweep the knowledge: %w", err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(bucketSubject(documentBucket, ">")))
	if err != nil {
		return 0, fmt.Errorf("sweep the knowledge: %w", err)
	}
	swept := 0
	for subject := range info.State.Subjects {
		key := strings.TrimPrefix(subject, bucketSubject(documentBucket, ""))
		if used[key] {
			continue
		}
		gone, err := q.sweep(ctx, now, key, through)
		if err != nil {
			return swept, err
		}
		if gone {
			swept++
		}
	}
	return swept, nil
}

// referred returns the keys that are in use, and up to where the draft is published.
func (q *Queue) referred(ctx context.Context) (map[string]bool, uint64, error) {
	versions, err := q.KnowledgeHistory(ctx)
	if err != nil {
		return nil, 0, err
	}
	newest := KnowledgeVersion{}
	if len(versions) > 0 {
		newest = versions[0]
	}
	used := map[string]bool{}
	for _, v := range versions {
		var unread []string
		for _, hash := range v.Pages {
			if key := pagePrefix + hash; !used[key] {
				used[key] = true
				unread = append(unread, hash)
			}
		}
		documents, err := q.Documents(ctx, KnowledgeVersion{Pages: unread})
		if err != nil {
			return nil, 0, err
		}
		for _, d := range documents {
			used[textPrefix+d.Hash] = true
		}
	}
	changes, err := q.Draft(ctx, newest)
	for _, c := range changes {
		used[draftKey(c.Name)], used[textPrefix+c.Hash] = true, true
	}
	return used, newest.Through, err
}

// sweep removes an entry that nothing refers to, unless it is young: a change that is not
// published, and anything else for a while.
func (q *Queue) sweep(ctx context.Context, now time.Time, key string, through uint64) (bool, error) {
	entry, err := q.documents.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil // a mark of what is gone already
	}
	if err != nil {
		return false, fmt.Errorf("sweep %s: %w", key, err)
	}
	young := now.Sub(entry.Created()) < youngFor
	if strings.HasPrefix(key, draftPrefix) {
		young = entry.Revision() > through
	}
	if young {
		return false, nil
	}
	err = q.documents.Purge(ctx, key, jetstream.LastRevision(entry.Revision()), jetstream.PurgeTTL(time.Minute))
	if outpaced(err) {
		return false, nil // it is in use again
	}
	if err != nil {
		return false, fmt.Errorf("sweep %s: %w", key, err)
	}
	return true, nil
}
