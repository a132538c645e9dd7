package main

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// pressed is a member that tells of a load level.
type pressed struct {
	granter
	level int
}

func (p *pressed) Level(chat.Lane) (int, <-chan struct{}) { return p.level, nil }

func TestPhrasingsAreDraftedWhenThereIsLittleToDo(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{FirstToken: sim.Fixed(5 * time.Millisecond), Call: sim.Fixed(10 * time.Millisecond)})
		l := w.live()
		defer func() { l.stop(); w.close() }()
		time.Sleep(time.Second)
		load := &pressed{l.line.member, 1}
		d := drafter{store: l.queue.FAQ(), granter: load, model: l.fleet.model, rules: func() *rules.Rules { return w.rules }, log: zerolog.Nop()}
		wish := faq.Draft{Entry: "password_reset", State: faq.DraftWanted, At: time.Now().UTC(), Actor: "admin"}
		put := func(one faq.Draft) {
			t.Helper()
			if err := d.change(t.Context(), func(all faq.Drafts) (faq.Drafts, error) { return all.Put(one) }); err != nil {
				t.Fatal(err)
			}
		}
		state := func(entry string) faq.Draft {
			t.Helper()
			stored, err := d.store.Note(t.Context(), queue.FAQDrafts)
			if err != nil {
				t.Fatal(err)
			}
			all, err := faq.ReadDrafts(stored)
			if err != nil {
				t.Fatal(err)
			}
			one, _ := all.Find(entry)
			return one
		}
		put(wish)
		if d.calm() {
			t.Error("drafts are made at level 1")
		}
		load.level = 0
		if !d.calm() {
			t.Error("no drafts are made at level 0")
		}
		if err := d.once(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := state("password_reset")
		if got.State != faq.DraftReady || len(got.Phrasings) == 0 || got.Actor != "admin" {
			t.Errorf("%+v", got)
		}
		if calls := w.vendors["a"].Stats().Calls + w.vendors["b"].Stats().Calls; calls != 2 {
			t.Errorf("%d calls, want one for each language", calls)
		}
		if err := d.once(t.Context()); err != nil {
			t.Error(err)
		}
		if again := state("password_reset"); again.At != got.At {
			t.Error("what is ready was drafted again")
		}
		put(faq.Draft{Entry: "an entry that went", State: faq.DraftWanted, At: time.Now().UTC()})
		if err := d.once(t.Context()); err == nil {
			t.Error("an entry that there is not was drafted for")
		}
		if gone := state("an entry that went"); gone.State != faq.DraftFailed {
			t.Errorf("%+v", gone)
		}
		for _, v := range l.line.control.Vendors() {
			if v.InUse != 0 {
				t.Errorf("vendor %s has %d permits in use at rest", v.Name, v.InUse)
			}
		}
	})
}

func TestADraftIsWorkedOnByOneProcess(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{FirstToken: sim.Fixed(5 * time.Millisecond), Call: sim.Fixed(10 * time.Millisecond)})
		l := w.live()
		defer func() { l.stop(); w.close() }()
		d := drafter{store: l.queue.FAQ()}
		want := faq.Draft{Entry: "password_reset", State: faq.DraftWanted, At: time.Now().UTC()}
		if err := d.change(t.Context(), func(all faq.Drafts) (faq.Drafts, error) { return all.Put(want) }); err != nil {
			t.Fatal(err)
		}
		won := make(chan bool, 5)
		for range cap(won) {
			go func() {
				mine, err := d.take(t.Context(), want)
				won <- mine && err == nil
			}()
		}
		n := 0
		for range cap(won) {
			if <-won {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d processes work on it", n)
		}
		if err := d.keep(t.Context(), faq.Draft{Entry: "dropped meanwhile", State: faq.DraftReady}); err != nil {
			t.Error(err)
		}
		stored, err := d.store.Note(t.Context(), queue.FAQDrafts)
		if all, _ := faq.ReadDrafts(stored); err != nil || len(all) != 1 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}
