package main

import (
	"context"

	"sluice/internal/vector"
)

// ofTalk and ofPart are vectors of the small talk, and of the part that is read now, of a
// knowledge that may be too large to be compared in memory.
const (
	ofTalk = "talk"
	ofPart = "part"
)

// largePart is how many texts of it are in memory at once.
const largePart = 2000

// largeWork is how far the vectors of a large knowledge are complete.
type largeWork struct {
	what string   // version and space
	keys []string // of the first texts, whose vectors are all kept
}

// large reports whether a knowledge has too many vectors to be compared in memory while there
// is a database that can do it; and it returns those of the small talk then.
func (e *embeddings) large(ctx context.Context, want space, texts, talk []string) ([][]float32, bool, error) {
	if e.live.shelves == nil {
		return nil, false, nil
	}
	vectors, err := e.collect(ctx, want, talk, ofTalk, vector.MaxNumbers)
	if err != nil || len(vectors[0]) == 0 || len(texts)+len(talk) <= e.most/len(vectors[0]) {
		return nil, false, err
	}
	return vectors, true, nil
}

// keepLarge completes the vectors of a large knowledge in the engine, a part after the other,
// and leaves them to the database.
func (e *embeddings) keepLarge(ctx context.Context, want space, version string, texts []string, talk [][]float32) error {
	if what := version + " " + want.id(); e.part.what != what {
		e.part = largeWork{what: what}
	}
	for len(e.part.keys) < len(texts) {
		from := len(e.part.keys)
		if _, err := e.collect(ctx, want, texts[from:min(from+largePart, len(texts))], ofPart, vector.MaxNumbers); err != nil {
			return err
		}
		e.part.keys = append(e.part.keys, e.used[ofPart]...)
	}
	e.used[ofBooks] = e.part.keys
	e.live.library.complete.Store(&completeVectors{version: version, space: want, dimensions: len(talk[0]), keys: e.part.keys, talk: talk})
	e.log.Info().Str("version", version).Str("space", want.id()).Int("passages", len(texts)).
		Msg("the knowledge is too large to be compared in memory, pgvector is to do it")
	return nil
}
