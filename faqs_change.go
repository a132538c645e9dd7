package main

import "sluice/internal/faq"

// enrol has a list answer that is not learnt yet: by its phrasings, and by what was learnt of
// the list before. The reader's goroutine.
func (f *faqs) enrol(now *storedList) {
	f.swap.Lock()
	defer f.swap.Unlock()
	f.stored.Store(now)
	f.amend(now)
}

// put has what was learnt of a list answer. Where there is a newer one meanwhile, that goes
// on answering, by what was learnt now. Learn's goroutine.
func (f *faqs) put(learnt *storedList, next *faqInForce) {
	f.swap.Lock()
	defer f.swap.Unlock()
	f.inForce.Store(next)
	if newest := f.stored.Load(); newest != learnt {
		f.amend(newest)
	}
}

// amend puts a list into force beside what was learnt of another. The caller holds swap.
func (f *faqs) amend(now *storedList) {
	next := &faqInForce{rev: now.rev}
	var err error
	switch before := f.inForce.Load(); {
	case len(now.entries) == 0:
	case before == nil || before.base == nil:
		next.base, err = faq.Enrol(now.entries)
	default:
		next.near = before.near
		next.base, err = before.base.Amend(now.entries)
	}
	if err != nil {
		f.log.Error().Err(err).Uint64("revision", now.rev).Msg("the FAQ cannot be put into force")
		return
	}
	f.inForce.Store(next)
}
