package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"runtime"

	"sluice/internal/intent"
)

// Builder makes an index of one document after the other and keeps no text but that of
// the passages. It has one user.
type Builder struct {
	x    *Index
	sum  hash.Hash
	seen map[string]bool
}

// NewBuilder begins an index without documents.
func NewBuilder() *Builder {
	return &Builder{
		x:   &Index{reader: intent.NewReader(""), postings: map[string][]posting{}},
		sum: sha256.New(), seen: map[string]bool{},
	}
}

// Add indexes a document. After an error there is no index.
func (b *Builder) Add(d Document) error {
	if b.seen[d.Name] {
		return fmt.Errorf("document %s is there twice: %w", d.Name, ErrBounds)
	}
	if len(b.seen) == MaxDocuments {
		return fmt.Errorf("more than %d documents: %w", MaxDocuments, ErrBounds)
	}
	b.seen[d.Name] = true
	_, _ = fmt.Fprintf(b.sum, "%d %s %d %s", len(d.Name), d.Name, len(d.Text), d.Text) // hashes take all
	for _, p := range split(d) {
		b.x.add(p)
	}
	if len(b.x.passages) > MaxPassages {
		return fmt.Errorf("more than %d passages: %w", MaxPassages, ErrBounds)
	}
	// Whoever waits for a processor goes first: nobody waits for an index.
	runtime.Gosched()
	return nil
}

// Index ends the building and returns what came of it. The same documents in the same
// order give the same index, whose version is made of their names and texts.
func (b *Builder) Index() *Index {
	b.x.documents = len(b.seen)
	b.x.version = hex.EncodeToString(b.sum.Sum(nil)[:8])
	for _, n := range b.x.lengths {
		b.x.usual += n / float32(len(b.x.lengths))
	}
	return b.x
}

// Build indexes documents. It ends early when ctx does.
func Build(ctx context.Context, documents []Document) (*Index, error) {
	b := NewBuilder()
	for _, d := range documents {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("index: %w", context.Cause(ctx))
		}
		if err := b.Add(d); err != nil {
			return nil, err
		}
	}
	return b.Index(), nil
}
