package queue

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of the FAQ's document.
const (
	MaxFAQ   = 32 << 20 // bytes
	maxParts = 16       // of it, compressed

	partSize   = 512 << 10 // bytes: what any server takes in one message
	partPrefix = "part."
	// strayAge is how old a part is that no kept revision has before it is removed: a
	// writer stores the parts before the revision that they belong to.
	strayAge = time.Hour
)

// ErrLarge is returned for a document that is larger than the store keeps.
var ErrLarge = errors.New("the document is too large")

// putParts stores a document in compressed parts, each under the hash of what it holds:
// one that is there already is written again, which makes it young.
func (f *FAQStore) putParts(ctx context.Context, doc []byte) ([]string, error) {
	if len(doc) > MaxFAQ {
		return nil, fmt.Errorf("store %d bytes, at most %d: %w", len(doc), MaxFAQ, ErrLarge)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(doc)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compress the faq: %w", err)
	}
	var names []string
	for part := range slices.Chunk(packed.Bytes(), partSize) {
		if len(names) == maxParts {
			return nil, fmt.Errorf("store %d bytes compressed, at most %d: %w", packed.Len(), maxParts*partSize, ErrLarge)
		}
		hash := sha256.Sum256(part)
		name := hex.EncodeToString(hash[:])
		if _, err := f.q.faq.Put(ctx, partPrefix+name, part); err != nil {
			return nil, refusal("store a part of the faq", err)
		}
		names = append(names, name)
	}
	return names, nil
}

// parts puts a document of a size together.
func (f *FAQStore) parts(ctx context.Context, names []string, size int) ([]byte, error) {
	var packed bytes.Buffer
	for _, name := range names {
		entry, err := f.q.faq.Get(ctx, partPrefix+name)
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", name, err)
		}
		packed.Write(entry.Value())
	}
	r, err := gzip.NewReader(&packed)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	doc, err := io.ReadAll(io.LimitReader(r, MaxFAQ+1))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if len(doc) != size {
		return nil, fmt.Errorf("holds %d bytes, not the %d that were stored", len(doc), size)
	}
	return doc, nil
}

// sweep removes old parts that no kept revision has. One that another writer has just
// written again has another place by now, and stays.
func (f *FAQStore) sweep(ctx context.Context, kept []faqRevision) error {
	used := map[string]bool{}
	for _, r := range kept {
		for _, name := range r.Parts {
			used[name] = true
		}
	}
	there, err := f.q.faq.Watch(ctx, partPrefix+"*", jetstream.MetaOnly(), jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("list the parts of the faq: %w", err)
	}
	defer func() { _ = there.Stop() }()
	for {
		select {
		case entry := <-there.Updates():
			if entry == nil { // all are told
				return nil
			}
			if used[strings.TrimPrefix(entry.Key(), partPrefix)] || time.Since(entry.Created()) < strayAge {
				continue
			}
			err = f.q.faq.Purge(ctx, entry.Key(), jetstream.LastRevision(entry.Revision()), jetstream.PurgeTTL(time.Minute))
			if err != nil && !outpaced(err) {
				return fmt.Errorf("remove a part of the faq: %w", err)
			}
		case <-ctx.Done():
			return fmt.Errorf("list the parts of the faq: %w", context.Cause(ctx))
		}
	}
}
