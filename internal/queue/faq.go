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

// KeepFAQ is how many revisions of the FAQ are kept, the newest included.
const KeepFAQ = 32

// faqRecord is the key of the list of the kept revisions, which is also what writers
// compete for.
const faqRecord = "record"

// FAQStore keeps the FAQ's document and its last KeepFAQ revisions, numbered from 1. What
// a document says is none of its business. It is safe for concurrent use.
type FAQStore struct{ q *Queue }

// FAQ returns the store of the FAQ.
func (q *Queue) FAQ() *FAQStore { return &FAQStore{q} }

// faqRevision is a kept revision: the document lies beside it, in parts.
type faqRevision struct {
	Rev uint64    `json:"rev"`
	At  time.Time `json:"at"`
	Authorship
	Size  int      `json:"size"` // of the document, in bytes
	Parts []string `json:"parts"`
}

// Current returns the newest revision, or ErrNotFound before the first one was stored.
func (f *FAQStore) Current(ctx context.Context) (Revision, error) {
	kept, _, err := f.kept(ctx)
	if err == nil && len(kept) == 0 {
		err = fmt.Errorf("faq: %w", ErrNotFound)
	}
	if err != nil {
		return Revision{}, err
	}
	return f.open(ctx, kept[len(kept)-1])
}

// Revision returns a stored revision, or ErrNotFound: it never was, or is kept no more.
func (f *FAQStore) Revision(ctx context.Context, rev uint64) (Revision, error) {
	kept, _, err := f.kept(ctx)
	if err != nil {
		return Revision{}, err
	}
	at := slices.IndexFunc(kept, func(r faqRevision) bool { return r.Rev == rev })
	if at < 0 {
		return Revision{}, fmt.Errorf("revision %d of the faq: %w", rev, ErrNotFound)
	}
	return f.open(ctx, kept[at])
}

// History returns every revision that is kept, newest first, without the documents.
func (f *FAQStore) History(ctx context.Context) ([]Revision, error) {
	kept, _, err := f.kept(ctx)
	all := make([]Revision, 0, len(kept))
	for _, r := range slices.Backward(kept) {
		all = append(all, r.revision(nil))
	}
	return all, err
}

// Change writes a document over the revision that its author saw (0: none yet), together
// with who did it. ErrLost: somebody else stored another one. ErrLarge: it is too large.
func (f *FAQStore) Change(ctx context.Context, doc []byte, rev uint64, a Authorship) (uint64, error) {
	kept, place, err := f.kept(ctx)
	if err != nil {
		return 0, err
	}
	next := faqRevision{Rev: 1, At: time.Now().UTC(), Authorship: a, Size: len(doc)}
	if len(kept) > 0 {
		next.Rev = kept[len(kept)-1].Rev + 1
	}
	if next.Rev != rev+1 {
		return 0, fmt.Errorf("store the faq: %w", ErrLost)
	}
	if next.Parts, err = f.putParts(ctx, doc); err != nil {
		return 0, err
	}
	kept = append(kept, next)
	kept = kept[max(0, len(kept)-KeepFAQ):]
	if err := f.keep(ctx, kept, place); err != nil {
		return 0, err
	}
	if err := f.sweep(ctx, kept); err != nil {
		f.q.log.Warn().Err(err).Msg("parts of former revisions of the faq are left for the next change")
	}
	return next.Rev, nil
}

// Last returns the place of the store's newest write. While it is the same, no document
// has changed, and none need be read.
func (f *FAQStore) Last(ctx context.Context) (uint64, error) {
	stream, err := f.q.js.Stream(ctx, "KV_"+faqBucket) // asks for its state
	if err != nil {
		return 0, fmt.Errorf("look for another faq: %w", err)
	}
	return stream.CachedInfo().State.LastSeq, nil
}

// Follow calls read now, after each change of the document, and at least every second,
// one call at a time, until ctx ends.
func (f *FAQStore) Follow(ctx context.Context, read func(context.Context)) {
	follow(ctx, f.q.nc, f.q.faq, faqRecord, read)
}

// kept returns the revisions, oldest first, and the place of the record in its bucket;
// 0: there is none.
func (f *FAQStore) kept(ctx context.Context) ([]faqRevision, uint64, error) {
	entry, err := f.q.faq.Get(ctx, faqRecord)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the revisions of the faq: %w", err)
	}
	var kept []faqRevision
	if err := json.Unmarshal(entry.Value(), &kept); err != nil {
		return nil, 0, fmt.Errorf("decode the revisions of the faq: %w", err)
	}
	return kept, entry.Revision(), nil
}

// keep writes the record over the one at place.
func (f *FAQStore) keep(ctx context.Context, kept []faqRevision, place uint64) error {
	body, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the revisions of the faq: %w", err)
	}
	err = decided(ctx, func() error {
		_, err := f.q.faq.Update(ctx, faqRecord, body, place)
		return err
	})
	if outpaced(err) {
		return fmt.Errorf("store the faq: %w", ErrLost)
	}
	return refusal("store the faq", err)
}

func (r faqRevision) revision(doc []byte) Revision {
	return Revision{Rev: r.Rev, At: r.At, Authorship: r.Authorship, Size: r.Size, Document: doc}
}

func (f *FAQStore) open(ctx context.Context, r faqRevision) (Revision, error) {
	doc, err := f.parts(ctx, r.Parts, r.Size)
	if err != nil {
		return Revision{}, fmt.Errorf("read revision %d of the faq: %w", r.Rev, err)
	}
	return r.revision(doc), nil
}
