package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// walk is a way through one session's events in the talk log, oldest first.
//
// To find the next event under a wildcard, the engine goes through the events of all other
// sessions in between, one by one, while nothing else is asked of it: a reader that always
// asked so would cost more the more sessions talk. The record's marks say where nearly every
// event is; what they do not know (a writer died before its note, or the event is older than the
// marks) is looked for.
type walk struct {
	queue  *Queue
	tenant string
	id     string // of the session
	marks  []Mark // of its record, by seq
	newest chat.Event
	end    uint64 // stream sequence of newest
}

// from visits the events from a stream sequence to the newest while visit returns true.
func (w *walk) from(ctx context.Context, begin uint64, visit func(chat.Event) bool) error {
	at, seq := begin, w.seqAt(begin)
	for at < w.end {
		e, found, err := w.next(ctx, at, seq)
		if err != nil || found == 0 {
			return err
		}
		if !visit(e) || found >= w.end {
			return nil
		}
		at, seq = found+1, e.Seq+1
	}
	if at == w.end {
		visit(w.newest)
	}
	return nil
}

// next returns the first event at or behind a stream sequence and its own sequence, or 0.
// seq is that which it should have; 0: unknown.
func (w *walk) next(ctx context.Context, at, seq uint64) (chat.Event, uint64, error) {
	if seq != 0 && seq == w.newest.Seq {
		return w.newest, w.end, nil
	}
	if place := w.placeOf(seq); place >= at {
		raw, err := w.queue.talk.GetMsg(ctx, place)
		if err == nil && strings.HasPrefix(raw.Subject, strings.TrimSuffix(w.filter(), ">")) {
			return decodeEvent(raw)
		}
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return chat.Event{}, 0, fmt.Errorf("read talk log: %w", err)
		}
	}
	raw, err := w.queue.talk.GetMsg(ctx, at, jetstream.WithGetMsgSubject(w.filter()))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return chat.Event{}, 0, nil
	}
	if err != nil {
		return chat.Event{}, 0, fmt.Errorf("read talk log: %w", err)
	}
	return decodeEvent(raw)
}

func (w *walk) filter() string { return talkFilter(w.tenant, w.id) }

// placeOf returns where the marks say that an event is; 0: they do not know.
func (w *walk) placeOf(seq uint64) uint64 {
	i, known := slices.BinarySearchFunc(w.marks, seq, func(m Mark, seq uint64) int { return cmp.Compare(m.Seq, seq) })
	if !known {
		return 0
	}
	return w.marks[i].At
}

// seqAt returns the seq of the event at a stream sequence; 0: the marks do not know.
func (w *walk) seqAt(at uint64) uint64 {
	i, known := slices.BinarySearchFunc(w.marks, at, func(m Mark, at uint64) int { return cmp.Compare(m.At, at) })
	if !known {
		return 0
	}
	return w.marks[i].Seq
}

func decodeEvent(raw *jetstream.RawStreamMsg) (chat.Event, uint64, error) {
	var e chat.Event
	if err := json.Unmarshal(raw.Data, &e); err != nil {
		return e, 0, fmt.Errorf("decode event %d: %w", raw.Sequence, err)
	}
	return e, raw.Sequence, nil
}
