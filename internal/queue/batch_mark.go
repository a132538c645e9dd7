package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// chunkLines is how many lines are marked in one entry: a byte each.
const chunkLines = 1024

// markLimit is how long one write of marks may take.
const markLimit = 5 * time.Second

func chunkOf(line int) int { return (line - 1) / chunkLines }

func placeOf(line int) int { return (line - 1) % chunkLines }

func markKey(batch string, chunk int) string { return batchMark + batch + "." + strconv.Itoa(chunk) }

// marks gathers the marks that this process sets: those that come while a chunk is being
// written go with its next write together. It is safe for concurrent use, and starts
// nothing: whoever comes first writes for all.
type marks struct {
	mu     sync.Mutex
	chunks map[string]*chunkWriter
}

// chunkWriter is one chunk under way; mu of marks guards it.
type chunkWriter struct {
	turn chan struct{} // holds one token while a group is written
	next *markGroup    // that gathers; nil: none
	used int           // groups that are not written yet
}

type markGroup struct {
	batch  string
	places map[int]byte
	done   chan struct{}
	err    error // once done is closed
}

// set marks a line, and returns when that is stored. A line that has ended keeps its mark.
func (m *marks) set(ctx context.Context, q *Queue, batch string, line int, mark byte) error {
	key := markKey(batch, chunkOf(line))
	m.mu.Lock()
	if m.chunks == nil {
		m.chunks = map[string]*chunkWriter{}
	}
	w := m.chunks[key]
	if w == nil {
		w = &chunkWriter{turn: make(chan struct{}, 1)}
		m.chunks[key] = w
	}
	g, first := w.next, w.next == nil
	if first {
		g = &markGroup{batch: batch, places: map[int]byte{}, done: make(chan struct{})}
		w.next = g
		w.used++
	}
	if !markEnded(g.places[placeOf(line)]) {
		g.places[placeOf(line)] = mark
	}
	m.mu.Unlock()
	if first {
		m.write(ctx, q, key, w, g)
		return g.err
	}
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write stores a group once the one before it is stored. Others wait for it: it does not
// end with its writer's context.
func (m *marks) write(ctx context.Context, q *Queue, key string, w *chunkWriter, g *markGroup) {
	w.turn <- struct{}{}
	m.mu.Lock()
	w.next = nil
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markLimit)
	defer cancel()
	g.err = q.writeMarks(ctx, g.batch, key, g.places)
	close(g.done)
	<-w.turn
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.used--; w.used == 0 {
		delete(m.chunks, key)
	}
}

// writeMarks changes a chunk by compare-and-set.
func (q *Queue) writeMarks(ctx context.Context, batch, key string, places map[int]byte) error {
	for range appendTries {
		chunk, rev, err := q.readChunk(ctx, key)
		if err != nil {
			return err
		}
		changed := false
		for place, mark := range places {
			if !markEnded(chunk[place]) && chunk[place] != mark {
				chunk[place], changed = mark, true
			}
		}
		if !changed {
			return nil
		}
		if rev == 0 {
			// Its batch may have ended, and its marks be gone for good.
			if b, err := q.Batch(ctx, batch); errors.Is(err, ErrNotFound) || err == nil && b.EndedAt != nil {
				return nil
			}
		}
		_, err = q.putBatchKey(ctx, key, chunk, rev)
		if !outpaced(err) {
			return refusal("mark lines", err)
		}
		if err := pause(ctx, time.Duration(1+rand.IntN(4))*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("mark lines: met another writer %d times", appendTries)
}

func (q *Queue) readMarks(ctx context.Context, batch string, chunk int) ([]byte, uint64, error) {
	return q.readChunk(ctx, markKey(batch, chunk))
}

// readChunk returns the marks of a chunk; where nothing is marked yet, as many as none.
func (q *Queue) readChunk(ctx context.Context, key string) ([]byte, uint64, error) {
	entry, err := q.batches.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return bytes.Repeat([]byte{unmarked}, chunkLines), 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read marks: %w", err)
	}
	if len(entry.Value()) != chunkLines {
		return nil, 0, fmt.Errorf("read marks %s: %d bytes", key, len(entry.Value()))
	}
	return bytes.Clone(entry.Value()), entry.Revision(), nil
}
