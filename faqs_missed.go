package main

import (
	"context"
	"regexp"
	"sync"
	"time"

	"sluice/internal/faq"
	"sluice/internal/queue"
)

// missedEvery is how often a process adds its missed questions to those of all, and
// missedLimit how long the last time may take.
const (
	missedEvery = 30 * time.Second
	missedLimit = 2 * time.Second
)

// run keeps the list, and gives on what was missed, until ctx ends.
func (f *faqs) run(ctx context.Context) {
	var work sync.WaitGroup
	work.Go(func() { f.store.Follow(ctx, f.read) })
	work.Go(func() {
		for sleep(ctx, missedEvery) == nil {
			f.giveOn(ctx)
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), missedLimit)
		defer cancel()
		f.giveOn(ctx)
	})
	work.Wait()
}

// giveOn adds what was missed here to what all processes have missed. What has an entry
// by now is left out.
func (f *faqs) giveOn(ctx context.Context) {
	all := f.missed.Take()
	if len(all) == 0 {
		return
	}
	err := f.store.ChangeNote(ctx, queue.FAQMissed, func(stored []byte) ([]byte, error) {
		sum, err := faq.ReadMisses(stored)
		if err != nil {
			return nil, err
		}
		sum.Merge(all)
		if base := f.base(); base != nil {
			for _, one := range sum.List(faq.MaxMisses) {
				if base.Knows(one.Text) {
					sum.Settle(one.Key)
				}
			}
		}
		return sum.Document()
	})
	if err != nil {
		f.missed.Merge(all)
		f.log.Warn().Err(err).Int("questions", len(all)).Msg("missed questions cannot be stored, trying again")
	}
}

// telling finds what may tell who asked: addresses of mail, and longer runs of digits,
// whatever stands between them.
var telling = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN.-]+|\+?\pN(?:[ ()./-]{0,2}\pN){4,}`)

// hideTelling takes out of a question what may tell who asked it.
func hideTelling(text string) string { return telling.ReplaceAllString(text, "…") }
