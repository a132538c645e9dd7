package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/knowledge"
	"sluice/internal/queue"
	"sluice/internal/vector"
	"sluice/worker"
)

// One process of all embeds at a time, for embedTurn, under a duty that lasts a little
// longer than its last call may take. One call at a time: an import holds one permit.
const (
	embedTurn = 20 * time.Second
	embedDuty = 30 * time.Second
	embedCall = 6 * time.Second // of one batch, without the wait for its permit
)

// Why an import does not go on now.
var (
	errElsewhere = errors.New("another process embeds")
	errCrowded   = errors.New("customers feel the load")
	errMore      = errors.New("the turn is over")
	errSlow      = errors.New("the vendor gave no vectors in time")
)

// maxFAQNumbers bounds the vectors of the FAQ, 16 MiB, because each new list compares its
// phrasings with one another: 4,096 texts of 1,024 dimensions.
const maxFAQNumbers = 4 << 20

// Whose vectors there are.
const (
	ofBooks = "knowledge"
	ofFAQ   = "faq"
)

// nearShelf is the vectors of one version of the knowledge.
type nearShelf struct {
	version string // of the index
	space   space
	near    worker.Near
	open    func() bool // whether the database that is asked first answers; nil: there is none
}

// nearFAQ is the vectors of one list of entries.
type nearFAQ struct {
	stored  *storedList
	space   space
	vectors faq.Vectors
}

// keepBooks completes the vectors of the knowledge in force.
func (e *embeddings) keepBooks(ctx context.Context, want space) error {
	l := e.live.library
	if l == nil || l.now.Load() == nil {
		return nil
	}
	shelf := l.now.Load()
	version := shelf.index.Version()
	if now := l.near.Load(); now != nil && now.version == version && now.space.id() == want.id() {
		return nil
	}
	if all := l.complete.Load(); all != nil && all.version == version && all.space.id() == want.id() {
		return nil // too many for the memory: the database has them, or gets them
	}
	what := version + " " + want.id()
	if e.refused[ofBooks] == what {
		return nil
	}
	texts, talk := shelf.index.Texts(), faq.SmallTalk()
	if strangers, large, err := e.large(ctx, want, texts, talk); err != nil || large {
		if err != nil {
			return err
		}
		return e.keepLarge(ctx, want, version, texts, strangers)
	}
	vectors, err := e.collect(ctx, want, append(texts, talk...), ofBooks, vector.MaxNumbers)
	if errors.Is(err, vector.ErrBounds) {
		e.refused[ofBooks] = what
		e.log.Warn().Err(err).Msg("the knowledge is too large for vectors, it is found by words alone")
		return nil
	}
	if err != nil {
		return err
	}
	table, err := vector.NewTable(vectors[:len(texts)])
	if err != nil {
		return fmt.Errorf("vectors of the knowledge: %w", err)
	}
	var best []float64
	for _, v := range vectors[len(texts):] {
		for _, one := range table.Nearest(v, 1) {
			best = append(best, one.Likeness)
		}
	}
	near := worker.Near{
		Space: want.id(), Floor: knowledge.Floor(best),
		Nearest: func(_ context.Context, v []float32, n int) ([]vector.Near, error) { return table.Nearest(v, n), nil },
	}
	inMemory := &nearShelf{version, want, near, nil}
	if e.live.shelves != nil && table.Dimensions() > 0 {
		l.complete.Store(&completeVectors{version, want, table.Dimensions(), e.used[ofBooks][:len(texts)], inMemory, nil})
	}
	l.near.Store(inMemory)
	e.log.Info().Str("version", version).Str("space", want.id()).Int("passages", len(texts)).
		Float64("floor", near.Floor).Msg("the knowledge is found by meaning too")
	return nil
}

// keepFAQ completes the vectors of the newest list of entries, and has the FAQ learn with
// them.
func (e *embeddings) keepFAQ(ctx context.Context, want space) error {
	f := e.live.faqs
	if f == nil || f.stored.Load() == nil || len(f.stored.Load().entries) == 0 {
		return nil
	}
	stored := f.stored.Load()
	if now := f.near.Load(); now != nil && now.stored == stored && now.space.id() == want.id() {
		return nil
	}
	what := fmt.Sprint(stored.rev, " ", want.id())
	if e.refused[ofFAQ] == what {
		return nil
	}
	texts := faq.Texts(stored.entries)
	vectors, err := e.collect(ctx, want, texts, ofFAQ, maxFAQNumbers)
	if errors.Is(err, vector.ErrBounds) {
		e.refused[ofFAQ] = what
		e.log.Warn().Err(err).Msg("the FAQ is too large for vectors, it is found by words alone")
		return nil
	}
	if err != nil {
		return err
	}
	near := &nearFAQ{stored: stored, space: want, vectors: faq.Vectors{Space: want.id(), Of: map[string][]float32{}}}
	for i, text := range texts {
		near.vectors.Of[text] = vectors[i]
	}
	f.near.Store(near)
	e.live.learnAgain()
	return nil
}

// collect returns the vector of each text, in their order: those that were paid for before,
// and then the rest, batch by batch. What was embedded when it ends early is kept. A text
// without a direction has a vector of zeros.
func (e *embeddings) collect(ctx context.Context, want space, texts []string, of string, most int) ([][]float32, error) {
	w := want.work(texts)
	if err := e.recall(ctx, w); err != nil {
		return nil, err
	}
	if !w.fits(most) {
		return nil, fmt.Errorf("%d texts of %d dimensions: %w", len(texts), w.dimensions, vector.ErrBounds)
	}
	if len(w.missing) > 0 && !time.Now().Before(e.turn) {
		mine, err := e.queue.Duty(ctx, "vectors", embedDuty)
		if err != nil {
			return nil, err
		}
		if !mine {
			return nil, errElsewhere
		}
		e.turn = time.Now().Add(embedTurn)
	}
	if len(w.missing) > 0 {
		if err := e.queue.VectorRoom(ctx, len(w.missing)); err != nil {
			return nil, err
		}
	}
	for len(w.missing) > 0 {
		if time.Now().After(e.turn) {
			return nil, errMore
		}
		if err := e.batch(ctx, w, e.turn); err != nil {
			return nil, err
		}
		if !w.fits(most) {
			return nil, fmt.Errorf("%d texts of %d dimensions: %w", len(texts), w.dimensions, vector.ErrBounds)
		}
	}
	e.used[of] = w.keys
	return w.result(), nil
}

// batch embeds the next few texts, and keeps what came of them.
func (e *embeddings) batch(ctx context.Context, w *work, until time.Time) error {
	for _, lane := range chat.Lanes() {
		if level, _ := e.level(lane); lane.Interactive() && level >= crowded {
			return errCrowded
		}
	}
	n := min(w.want.Batch, len(w.missing))
	texts := make([]string, n)
	for i, key := range w.missing[:n] {
		texts[i] = w.texts[key]
	}
	granted, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	calling, stop := context.WithDeadlineCause(ctx, until.Add(embedCall), errSlow)
	defer stop()
	vectors, err := e.embed(calling, granted, w.want, "vectors-"+rand.Text(), texts)
	if err != nil {
		return err
	}
	for i, key := range w.missing[:n] {
		if err := e.queue.KeepVector(ctx, key, vector.Encode(vectors[i])); err != nil {
			return err
		}
		w.put(key, vectors[i])
	}
	w.missing = w.missing[n:]
	return nil
}

// recall reads what is kept, and notes what is missing.
func (e *embeddings) recall(ctx context.Context, w *work) error {
	for _, key := range w.keys {
		if _, there := w.vectors[key]; there {
			continue
		}
		raw, err := e.queue.Vector(ctx, key)
		if errors.Is(err, queue.ErrNotFound) {
			w.put(key, nil)
			w.missing = append(w.missing, key)
			continue
		}
		if err != nil {
			return err
		}
		v, err := vector.Decode(raw)
		if err != nil {
			v = nil // without a direction
		}
		w.put(key, v)
	}
	return nil
}
