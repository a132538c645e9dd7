package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// KeepVersions is how many published versions of the knowledge are kept, the one in force
// included.
const KeepVersions = 20

// Document is one document of the knowledge. Its text is kept under its hash, once for
// all versions that have it.
type Document struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Size   int    `json:"size"`             // of the text, in bytes
	Origin string `json:"origin,omitempty"` // who keeps it up to date; empty: operators
}

// KnowledgeVersion is a set of documents that customers are, or were, answered from.
type KnowledgeVersion struct {
	Rev uint64    `json:"-"` // its place; 0: nothing was published yet
	At  time.Time `json:"at"`
	Authorship
	Documents int      `json:"documents"`
	Size      int64    `json:"size"`    // of all texts, in bytes
	Pages     []string `json:"pages"`   // hashes of the lists of documents
	Through   uint64   `json:"through"` // the draft's changes up to here are in it, or were dropped
}

// Knowledge returns the newest published version, or ErrNotFound before the first one.
func (q *Queue) Knowledge(ctx context.Context) (KnowledgeVersion, error) {
	entry, err := q.knowledge.Get(ctx, currentKey)
	return knowledgeOf(entry, err)
}

// KnowledgeAt returns a published version, or ErrNotFound: it never was, or is kept no more.
func (q *Queue) KnowledgeAt(ctx context.Context, rev uint64) (KnowledgeVersion, error) {
	if rev == 0 {
		return KnowledgeVersion{}, fmt.Errorf("version of the knowledge: %w", ErrNotFound)
	}
	entry, err := q.knowledge.GetRevision(ctx, currentKey, rev)
	return knowledgeOf(entry, err)
}

func knowledgeOf(entry jetstream.KeyValueEntry, err error) (v KnowledgeVersion, _ error) {
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return v, fmt.Errorf("version of the knowledge: %w", ErrNotFound)
	}
	if err != nil {
		return v, fmt.Errorf("read a version of the knowledge: %w", err)
	}
	return decodeKnowledge(entry.Value(), entry.Revision())
}

func decodeKnowledge(body []byte, rev uint64) (v KnowledgeVersion, _ error) {
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("decode version %d of the knowledge: %w", rev, err)
	}
	v.Rev = rev
	return v, nil
}

// KnowledgeHistory returns every version that is kept, newest first.
func (q *Queue) KnowledgeHistory(ctx context.Context) ([]KnowledgeVersion, error) {
	all := []KnowledgeVersion{}
	err := q.walk(ctx, knowledgeBucket, currentKey, 0, func(raw *jetstream.RawStreamMsg) error {
		v, err := decodeKnowledge(raw.Data, raw.Sequence)
		all = append(all, v)
		return err
	})
	slices.Reverse(all)
	return all, err
}

// FollowKnowledge calls read now, after each publication, and at least every second, one
// call at a time, until ctx ends.
func (q *Queue) FollowKnowledge(ctx context.Context, read func(context.Context)) {
	follow(ctx, q.nc, q.knowledge, currentKey, read)
}

// walk calls do for each entry that a bucket's leader has under a filter and that was
// written after a place, oldest write first, until do fails. What is written meanwhile may
// be among them.
func (q *Queue) walk(ctx context.Context, bucket, filter string, after uint64, do func(*jetstream.RawStreamMsg) error) error {
	stream, err := q.js.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return fmt.Errorf("read bucket %s: %w", bucket, err)
	}
	for seq := after + 1; ; {
		raw, err := stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(bucketSubject(bucket, filter)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read bucket %s: %w", bucket, err)
		}
		if raw.Header.Get(jetstream.MarkerReasonHeader) == "" && raw.Header.Get("KV-Operation") == "" {
			if err := do(raw); err != nil {
				return err
			}
		}
		seq = raw.Sequence + 1
	}
}
