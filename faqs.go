package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/intent"
	"sluice/internal/queue"
)

// faqs is the FAQ in this process: the newest stored list of entries, the base that was
// learnt from it or from one before, and the questions that it could not answer. It is
// safe for concurrent use; learn is called by one goroutine.
type faqs struct {
	store *queue.FAQStore
	// shipped tells whether the shipped entries answer while nobody has stored a list.
	shipped func() bool
	// hide takes out of a question what may tell who asked it, before it is kept.
	hide func(text string) string
	log  zerolog.Logger
	// newer is called when there is a list that learn has not seen.
	newer func()

	stored  atomic.Pointer[storedList] // nil: not read yet
	inForce atomic.Pointer[faqInForce] // nil: nothing answers
	swap    sync.Mutex                 // of inForce and stored: what is newer answers
	missed  *faq.Misses                // that are not stored yet
	near    atomic.Pointer[nearFAQ]    // nil: there are no vectors

	tried *storedList   // what learn has seen last; learn's goroutine
	with  *intent.Model // and with what model
	by    *nearFAQ      // and with what vectors
	seen  uint64        // the store's newest write when it was read, before that no place at all; the reader's goroutine
	away  bool          // the store did not answer last time; the reader's goroutine
}

// storedList is one revision of the list.
type storedList struct {
	rev     uint64 // 0: nobody has stored one
	list    faq.List
	entries []faq.Entry // in force by it; none: nothing is answered
}

// faqInForce is what answers, and which revision it was made of.
type faqInForce struct {
	rev  uint64
	base *faq.Base
	near *nearFAQ // nil: made without vectors
}

func newFAQs(store *queue.FAQStore, shipped func() bool, hide func(string) string, newer func(), log zerolog.Logger) *faqs {
	return &faqs{
		store: store, shipped: shipped, hide: hide, newer: newer, log: log.With().Str("stage", "faq").Logger(),
		missed: faq.NewMisses(), seen: math.MaxUint64,
	}
}

// base returns what answers; nil: nothing does.
func (f *faqs) base() *faq.Base {
	if now := f.inForce.Load(); now != nil {
		return now.base
	}
	return nil
}

// now returns what answers, and the revision of the list that it was made of.
func (f *faqs) now() (*faq.Base, uint64) {
	if now := f.inForce.Load(); now != nil {
		return now.base, now.rev
	}
	return nil, 0
}

// miss counts a question that was not answered.
func (f *faqs) miss(b *faq.Base, t *chat.Ticket, m faq.Match) {
	f.missed.Add(b, f.hide(t.Message), t.Language, m, time.Now().UTC())
}

// faq returns the FAQ in force; nil: nothing is learnt here, or there is none yet.
func (l *live) faq() *faq.Base {
	if l.faqs == nil {
		return nil
	}
	return l.faqs.base()
}

// missed counts a question that the FAQ in force has not answered.
func (l *live) missed(b *faq.Base, t *chat.Ticket, m faq.Match) {
	if l.faqs != nil {
		l.faqs.miss(b, t, m)
	}
}

// read takes over the newest list, if there is another one.
func (f *faqs) read(ctx context.Context) {
	last, err := f.store.Last(ctx)
	shipped, before := f.shipped(), f.stored.Load()
	if err == nil && last == f.seen && (before == nil || before.rev > 0 || before.list.Shipped == shipped) {
		f.away = false
		return
	}
	var next *storedList
	if err == nil {
		next, err = loadList(ctx, f.store, shipped)
	}
	if errors.Is(err, errUnreadable) {
		f.log.Error().Err(err).Msg("the stored FAQ cannot be used, the last known one holds")
		f.seen, f.away = last, false
		return
	}
	if err != nil {
		if !f.away && !errors.Is(ctx.Err(), context.Canceled) {
			f.log.Warn().Err(err).Msg("the FAQ cannot be read, the last known one holds")
			f.away = true
		}
		return
	}
	f.seen, f.away = last, false
	if before == nil || next.rev != before.rev || next.rev == 0 && before.list.Shipped != shipped {
		f.enrol(next)
		f.newer()
	}
}

// errUnreadable says that what is stored is no list that this version knows.
var errUnreadable = errors.New("the stored FAQ is no list that can be used")

// loadList reads the newest list. Before there is one, the shipped entries answer, or
// nothing does.
func loadList(ctx context.Context, store *queue.FAQStore, shipped bool) (*storedList, error) {
	next := &storedList{list: faq.FirstList(shipped)}
	found, err := store.Current(ctx)
	switch {
	case err == nil:
		next.rev = found.Rev
		if next.list, err = faq.ReadList(found.Document); err != nil {
			return nil, fmt.Errorf("%w: revision %d: %w", errUnreadable, found.Rev, err)
		}
	case !errors.Is(err, queue.ErrNotFound):
		return nil, err
	}
	if next.entries, err = next.list.InForce(); err != nil {
		return nil, fmt.Errorf("%w: revision %d: %w", errUnreadable, next.rev, err)
	}
	return next, nil
}

// errUnfitBase says why a base does not answer.
var errUnfitBase = errors.New("the entries do not hold on the questions held back")

// learn makes a base of the newest list, with a model of the intents that has not learnt
// its questions, and puts it into force. Where that does not hold, its phrasings answer all
// the same, beside what was learnt before. It uses one core for seconds.
func (f *faqs) learn(ctx context.Context, model *intent.Model) {
	now := f.stored.Load()
	near := f.vectors(now)
	if now == nil || now == f.tried && model == f.with && near == f.by {
		return
	}
	f.tried, f.with, f.by = now, model, near
	if len(now.entries) == 0 {
		f.put(now, &faqInForce{rev: now.rev})
		f.log.Info().Uint64("revision", now.rev).Msg("the FAQ has no entries")
		return
	}
	base, err := faq.BuildNear(ctx, now.entries, model, near.of())
	if ctx.Err() != nil {
		return
	}
	if err == nil && base.Calibration().Wrong > faq.MaxWrong {
		err = fmt.Errorf("%w: %.2f of the answers are wrong, at most %.2f may be", errUnfitBase, base.Calibration().Wrong, faq.MaxWrong)
	}
	if err != nil {
		f.log.Error().Err(err).Uint64("revision", now.rev).Msg("the FAQ cannot be learnt: known phrasings answer, and what was learnt before")
		return
	}
	f.put(now, &faqInForce{rev: now.rev, base: base, near: near})
	found := base.Calibration()
	f.log.Info().Uint64("revision", now.rev).Int("entries", found.Entries).Int("phrasings", found.Phrasings).
		Float64("answered", found.Answered).Float64("wrong", found.Wrong).Int("thin", len(found.Thin)).
		Str("space", base.Space()).Msg("FAQ learnt")
}

// vectors returns those of a list; nil: there are none, or those of another list.
func (f *faqs) vectors(now *storedList) *nearFAQ {
	if near := f.near.Load(); near != nil && near.stored == now {
		return near
	}
	return nil
}

// of returns the vectors; nil: there are none.
func (n *nearFAQ) of() *faq.Vectors {
	if n == nil {
		return nil
	}
	return &n.vectors
}
