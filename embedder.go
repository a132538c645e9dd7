package main

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/llm"
	"sluice/internal/mask"
	"sluice/internal/rules"
	"sluice/internal/vector"
)

// space is what vectors can be compared in: one model, by the vendors' name for it, and one
// number of dimensions. The rest says how it is asked.
type space struct {
	name       string // of the model
	dimensions int    // 0: as the model gives them

	rules.Embeddings
}

// spaceOf returns the space of the rules; false: they name none.
func spaceOf(r *rules.Rules) (space, bool) {
	e := r.Knowledge.Embeddings
	for _, v := range r.Vendors {
		if e.On() && v.Name == e.Vendors[0] {
			return space{name: v.Models[e.Model].Name, dimensions: e.Dimensions, Embeddings: e}, true
		}
	}
	return space{}, false
}

// id is the same for spaces whose vectors can be compared, in every process.
func (s space) id() string { return fmt.Sprintf("%s %d", s.name, s.dimensions) }

// maxEmbedded is how much of a text is read for its vector, in characters: the smallest
// models read about as much.
const maxEmbedded = 2000

// embedded returns a text as a vendor may read it: without what tells of a person, the same
// for the same text, and its beginning alone where it is long.
func embedded(text string) string {
	masked := mask.New().Hide(text, true)
	if utf8.RuneCountInString(masked) > maxEmbedded {
		return string([]rune(masked)[:maxEmbedded])
	}
	return masked
}

// embedder asks vendors for vectors. Each call holds a permit, in the lane of batches:
// behind every customer, and without a turn. It is safe for concurrent use.
type embedder struct {
	granter gate.Granter
	model   *gate.Model
}

var errNoEmbedder = errors.New("the endpoint gives no vectors")

// embed makes one call for texts that embedded has returned, and returns vectors of length
// 1; nil where a text has no direction, such as one without words. ctx bounds the call,
// and granted the wait for its permit.
func (e embedder) embed(ctx, granted context.Context, s space, ticket string, texts []string) ([][]float32, error) {
	ask := llm.Embedding{Model: s.name, Texts: texts, Dimensions: s.dimensions}
	a := gate.Ask{Ticket: ticket, Lane: chat.Batch, AcceptedAt: time.Now(), Vendors: s.Vendors, Model: s.Model}
	for _, text := range texts {
		a.Tokens += len(text)/3 + 1
	}
	a.Deadline, _ = granted.Deadline()
	var got llm.Embedded
	judge := func(err error) gate.Verdict { return embeddingVerdict(got.Tokens, err) }
	err := e.model.Other(ctx, granted, e.granter, a, judge, func(ctx context.Context, endpoint llms.Model) (err error) {
		client, able := endpoint.(*llm.Client)
		if !able {
			return errNoEmbedder
		}
		got, err = client.Embed(ctx, ask)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	vectors := make([][]float32, len(texts))
	for i, v := range got.Vectors {
		if vectors[i], err = vector.Unit(v); err != nil {
			vectors[i] = nil
		}
	}
	return vectors, nil
}

// embeddingVerdict is what the end of such a call means. It counts against the vendor where
// it could not be reached, did not answer in time or asked for a pause. That it does not
// know the model, or answers with nonsense, says nothing of its chats: a fault in the rules
// of embeddings must not open a breaker that customers stand behind.
func embeddingVerdict(tokens int, err error) gate.Verdict {
	if err == nil {
		return gate.Verdict{End: gate.End{Outcome: gate.Good, Tokens: tokens}}
	}
	v := failure(err)
	var e *llm.Error
	if errors.As(err, &e) && e.Kind != llm.Unavailable && e.Kind != llm.Timeout && v.Outcome == gate.Failed {
		v.Outcome = gate.Ignored
	}
	return v
}
