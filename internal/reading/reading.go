// Package reading makes of a message what every chain, template and rule needs to know
// of it: what it names, how its writer feels, in which language to answer. The three
// are worked out side by side, and none of them can hold the others up or bring them
// down. Stage 1 asks once for each message.
package reading

import (
	"sync/atomic"
	"time"

	"sluice/internal/chat"
	"sluice/internal/entity"
	"sluice/internal/mood"
)

// bound is the longest that a message waits for its parts: a thousand times what they
// take. What is not there by then is left out.
const bound = 20 * time.Millisecond

// mostParts bounds the parts under way, those that nobody waits for any more among them.
// Beyond it a part is left out at once.
const mostParts = 256

// Reader reads messages. It is safe for concurrent use.
type Reader struct {
	parts    []part
	underWay atomic.Int32
	lost     atomic.Uint64
}

// part works out one part of a reading. What it returns puts the result in.
type part func(text, locale string) func(*chat.Reading)

// New returns a reader.
func New() *Reader {
	moods := mood.New()
	return &Reader{parts: []part{
		func(text, _ string) func(*chat.Reading) {
			found := entity.Find(text)
			return func(r *chat.Reading) { r.Entities = found }
		},
		func(text, _ string) func(*chat.Reading) {
			found := moods.Of(text)
			return func(r *chat.Reading) { r.Mood = found }
		},
		func(text, locale string) func(*chat.Reading) {
			found := chat.Spoken(text, locale)
			return func(r *chat.Reading) { r.Language = found }
		},
	}}
}

// Read returns what can be made of a message within the bound. A part that takes longer,
// or panics, is missing; the others are there.
func (r *Reader) Read(text, locale string) chat.Reading {
	var out chat.Reading
	done := make(chan func(*chat.Reading), len(r.parts)) // nobody who is late waits at it
	started := 0
	for _, p := range r.parts {
		if r.underWay.Add(1) > mostParts {
			r.underWay.Add(-1)
			r.lost.Add(1)
			continue
		}
		started++
		go r.work(p, text, locale, done)
	}
	timer := time.NewTimer(bound)
	defer timer.Stop()
	for left := started; left > 0; left-- {
		select {
		case put := <-done:
			if put == nil {
				r.lost.Add(1)
				continue
			}
			put(&out)
		case <-timer.C:
			r.lost.Add(uint64(left))
			return out
		}
	}
	return out
}

// work runs one part to its end. Each is linear in a text of bounded length, so it has
// one, whether anybody still waits for it or not.
func (r *Reader) work(p part, text, locale string, done chan<- func(*chat.Reading)) {
	defer r.underWay.Add(-1)
	var put func(*chat.Reading)
	defer func() {
		if recover() != nil {
			put = nil
		}
		done <- put
	}()
	put = p(text, locale)
}

// Lost returns how many parts were left out since the start.
func (r *Reader) Lost() uint64 { return r.lost.Load() }
