package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of what is kept of the knowledge, the draft and former versions included. At
// them documents are refused with ErrStorage until a sweep has made room.
const (
	maxKnowledgeSize    = 2 << 30 // bytes
	maxKnowledgeEntries = 500_000
)

const (
	textPrefix  = "text."
	pagePrefix  = "page."
	draftPrefix = "draft."
)

// pageSize is how many documents one list names: far below the largest message, even
// with the longest names.
const pageSize = 500

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// DocumentOf returns how a text is filed.
func DocumentOf(name, text string) Document {
	return Document{Name: name, Hash: hashOf([]byte(text)), Size: len(text)}
}

// KeepText stores the text of a document and returns what is known of it. Nothing refers
// to it yet: unless a draft or a version does within an hour, a sweep removes it.
func (q *Queue) KeepText(ctx context.Context, name, text string) (Document, error) {
	if err := q.knowledgeRoom(ctx); err != nil {
		return Document{}, fmt.Errorf("keep document %s: %w", name, err)
	}
	d := DocumentOf(name, text)
	// Also where it is there already: a write makes it young, so that no sweep meets it.
	_, err := q.documents.Put(ctx, textPrefix+d.Hash, []byte(text))
	return d, refusal("keep document "+name, err)
}

// Text returns the text of a document, or ErrNotFound: no version that is kept has it.
func (q *Queue) Text(ctx context.Context, d Document) (string, error) {
	entry, err := q.documents.Get(ctx, textPrefix+d.Hash)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", fmt.Errorf("text of %s: %w", d.Name, ErrNotFound)
	}
	if err != nil {
		return "", fmt.Errorf("read document %s: %w", d.Name, err)
	}
	return string(entry.Value()), nil
}

// knowledgeRoom refuses with ErrStorage where no more may be kept.
func (q *Queue) knowledgeRoom(ctx context.Context) error {
	if err := q.room(ctx); err != nil {
		return err
	}
	stream, err := q.js.Stream(ctx, "KV_"+documentBucket)
	if err != nil {
		return fmt.Errorf("measure bucket %s: %w", documentBucket, err)
	}
	if s := stream.CachedInfo().State; s.Bytes > maxKnowledgeSize || s.Msgs > maxKnowledgeEntries {
		return fmt.Errorf("%d bytes in %d documents and lists: %w", s.Bytes, s.Msgs, ErrStorage)
	}
	return nil
}

// keepPages stores the lists of a version's documents and returns their hashes.
func (q *Queue) keepPages(ctx context.Context, documents []Document) ([]string, error) {
	pages := []string{}
	for from := 0; from < len(documents); from += pageSize {
		body, err := json.Marshal(documents[from:min(from+pageSize, len(documents))])
		if err != nil {
			return nil, fmt.Errorf("encode a list of documents: %w", err)
		}
		hash := hashOf(body)
		if _, err := q.documents.Put(ctx, pagePrefix+hash, body); err != nil {
			return nil, refusal("keep a list of documents", err)
		}
		pages = append(pages, hash)
	}
	return pages, nil
}

// Documents returns the documents of a version, by name.
func (q *Queue) Documents(ctx context.Context, v KnowledgeVersion) ([]Document, error) {
	all := make([]Document, 0, v.Documents)
	for _, hash := range v.Pages {
		entry, err := q.documents.Get(ctx, pagePrefix+hash)
		if err != nil {
			return nil, fmt.Errorf("read a list of documents: %w", err)
		}
		var page []Document
		if err := json.Unmarshal(entry.Value(), &page); err != nil {
			return nil, fmt.Errorf("decode a list of documents: %w", err)
		}
		all = append(all, page...)
	}
	return all, nil
}
