package queue

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Authorship says who stored a document, and why.
type Authorship struct {
	Actor  string `json:"actor"`
	Reason string `json:"reason"`
	From   uint64 `json:"from,omitempty"` // the revision that was brought back, or 0
}

// Revision is one stored document.
type Revision struct {
	Rev uint64
	At  time.Time
	Authorship
	Size     int    // of the document, in bytes
	Document []byte // nil in a list
}

// authorHeader carries the authorship beside the document, in base64, because it may
// hold any character.
const authorHeader = "Sluice-Author"

// Change writes a document over the revision that its author saw (0: none yet), together
// with who did it. ErrLost: somebody else stored another one.
func (r *RuleStore) Change(ctx context.Context, doc []byte, rev uint64, a Authorship) (uint64, error) {
	author, err := json.Marshal(a)
	if err != nil {
		return 0, fmt.Errorf("encode the author of the rules: %w", err)
	}
	// A raw publish, because KeyValue.Update has no headers.
	msg := nats.NewMsg(bucketSubject(ruleBucket, currentKey))
	msg.Data = doc
	msg.Header.Set(authorHeader, base64.StdEncoding.EncodeToString(author))
	var ack *jetstream.PubAck
	err = decided(ctx, func() (err error) {
		ack, err = r.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(rev))
		return err
	})
	if outpaced(err) {
		return 0, fmt.Errorf("store rules: %w", ErrLost)
	}
	if err != nil {
		return 0, refusal("store rules", err)
	}
	return ack.Sequence, nil
}

// Current returns the newest revision, or ErrNotFound before the first one was stored.
func (r *RuleStore) Current(ctx context.Context) (Revision, error) {
	return r.read(ctx, func(s jetstream.Stream) (*jetstream.RawStreamMsg, error) {
		return s.GetLastMsgForSubject(ctx, bucketSubject(ruleBucket, currentKey))
	})
}

// Revision returns a stored revision, or ErrNotFound: it never was, or is kept no more.
func (r *RuleStore) Revision(ctx context.Context, rev uint64) (Revision, error) {
	return r.read(ctx, func(s jetstream.Stream) (*jetstream.RawStreamMsg, error) { return s.GetMsg(ctx, rev) })
}

func (r *RuleStore) read(ctx context.Context, get func(jetstream.Stream) (*jetstream.RawStreamMsg, error)) (Revision, error) {
	stream, err := r.js.Stream(ctx, "KV_"+ruleBucket)
	if err != nil {
		return Revision{}, fmt.Errorf("read rules: %w", err)
	}
	raw, err := get(stream)
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && raw.Subject != bucketSubject(ruleBucket, currentKey) {
		return Revision{}, fmt.Errorf("revision of the rules: %w", ErrNotFound)
	}
	if err != nil {
		return Revision{}, fmt.Errorf("read rules: %w", err)
	}
	return revisionOf(raw), nil
}

func revisionOf(raw *jetstream.RawStreamMsg) Revision {
	rev := Revision{Rev: raw.Sequence, At: raw.Time, Size: len(raw.Data), Document: raw.Data}
	// Without a readable author it is a revision all the same.
	if author, err := base64.StdEncoding.DecodeString(raw.Header.Get(authorHeader)); err == nil {
		_ = json.Unmarshal(author, &rev.Authorship)
	}
	return rev
}

// History returns every revision that is kept, newest first, without the documents.
func (r *RuleStore) History(ctx context.Context) ([]Revision, error) {
	stream, err := r.js.Stream(ctx, "KV_"+ruleBucket)
	if err != nil {
		return nil, fmt.Errorf("read the history of the rules: %w", err)
	}
	var all []Revision
	for seq := uint64(1); ; {
		raw, err := stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(bucketSubject(ruleBucket, currentKey)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			slices.Reverse(all)
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the history of the rules: %w", err)
		}
		one := revisionOf(raw)
		one.Document = nil
		all = append(all, one)
		seq = raw.Sequence + 1
	}
}

// Last returns the place of the store's newest write. While it is the same, no document
// has changed, and none need be read.
func (r *RuleStore) Last(ctx context.Context) (uint64, error) {
	stream, err := r.js.Stream(ctx, "KV_"+ruleBucket) // asks for its state
	if err != nil {
		return 0, fmt.Errorf("look for new rules: %w", err)
	}
	return stream.CachedInfo().State.LastSeq, nil
}

// Follow calls read now, after each change of the document, and at least every second,
// one call at a time, until ctx ends.
func (r *RuleStore) Follow(ctx context.Context, read func(context.Context)) {
	follow(ctx, r.nc, r.kv, currentKey, read)
}
