package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/intent"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// learners starts processes that learn, from few examples.
func (w *world) learners(n int) []*follower {
	w.t.Helper()
	w.storeRules(smallRules)
	var all []*follower
	for range n {
		all = append(all, w.pupil(fewLessons))
	}
	return all
}

// store stores a list of the FAQ over the newest one.
func (f *follower) store(t *testing.T, l faq.List) uint64 {
	t.Helper()
	doc, err := l.Document()
	if err != nil {
		t.Fatal(err)
	}
	return f.storeText(t, doc)
}

func (f *follower) storeText(t *testing.T, doc []byte) uint64 {
	t.Helper()
	all, err := f.faqs.store.History(t.Context())
	rev := uint64(0)
	if err == nil && len(all) > 0 {
		rev = all[0].Rev
	}
	if err == nil {
		rev, err = f.faqs.store.Change(t.Context(), doc, rev, queue.Authorship{Actor: "admin", Reason: "test"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

// says is what a process answers to a question by its FAQ.
func (f *follower) says(question string) string {
	base := f.faq()
	if base == nil {
		return ""
	}
	m := base.Match(question, chat.English)
	if m.Tier != faq.Answer {
		return string(m.Tier)
	}
	return m.Answer
}

// ownList is a list of one entry that answers a question.
func ownList(answer string, questions ...string) faq.List {
	return faq.List{}.Put(faq.Entry{
		ID: "own", Questions: map[string][]string{chat.English: questions}, Answers: map[string]string{chat.English: answer},
	})
}

const parrots = "do you sell parrots"

func TestAnOperatorsEntriesAnswerInEveryProcess(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		t.Cleanup(w.close)
		all := w.learners(2)
		time.Sleep(time.Second)
		for i, f := range all {
			if base, rev := f.faqs.now(); base == nil || rev != 0 || !base.Learnt() || f.says("forgot password") == "" {
				t.Errorf("process %d does not answer from the shipped entries", i)
			}
		}
		for i, answer := range []string{"No parrots.", "Two parrots."} {
			all[i].store(t, ownList(answer, parrots))
			time.Sleep(time.Second)
			for k, f := range all {
				if got := f.says(parrots + "?"); got != answer {
					t.Errorf("process %d says %q, want %q", k, got, answer)
				}
				if got := f.says("forgot password"); got != string(faq.Pass) && got != string(faq.Offer) {
					t.Errorf("process %d says %q from the shipped entries, which are not in force", k, got)
				}
			}
		}
		all[0].store(t, faq.List{})
		time.Sleep(time.Second)
		if got := all[1].says(parrots); got != "" {
			t.Errorf("without entries it says %q", got)
		}
	})
}

func TestAListThatCannotBeUsedLeavesTheFormerInForce(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		t.Cleanup(w.close)
		f := w.learners(1)[0]
		f.store(t, ownList("No parrots.", parrots))
		time.Sleep(time.Second)
		f.storeText(t, []byte(`{"of":"a newer version"}`))
		time.Sleep(5 * time.Second)
		if got := f.says(parrots); got != "No parrots." {
			t.Errorf("says %q, want what the former list says", got)
		}
		f.store(t, ownList("One parrot.", parrots))
		time.Sleep(time.Second)
		if got := f.says(parrots); got != "One parrot." {
			t.Errorf("says %q, want what the next good list says", got)
		}
	})
}

func TestWhatOperatorsEnterIsLearntBesideTheIntents(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		t.Cleanup(w.close)
		w.storeRules(strings.Replace(pupilRules, "EXAMPLES", "the van broke down, "+strings.Repeat("our hired van broke down, ", 10)+"van", 1))
		given := make(chan int, 10) // phrasings learnt aside, of each lesson
		f := w.pupil(func(ctx context.Context, r *rules.Rules, examples, aside []intent.Example) (*intent.Model, error) {
			given <- len(aside)
			return fewLessons(ctx, r, examples, aside)
		})
		time.Sleep(time.Second)
		const message = "can a van bring the bed"
		if _, urgent := f.classify(message); !urgent {
			t.Fatal("the message is not taken for urgent by what it has in common with the examples")
		}
		own := ownList("Yes.", "can a van bring the sofa", "does a van bring the table", "can your van bring a bed", "does a van bring chairs").
			Put(faq.Entry{ID: "rental", Intent: "rental", Questions: map[string][]string{chat.English: {"our van"}}, Answers: map[string]string{chat.English: "x"}})
		f.store(t, own)
		time.Sleep(time.Second)
		if name, urgent := f.classify(message); urgent {
			t.Errorf("still urgent, as %s, beside the FAQ's phrasings", name)
		}
		f.store(t, faq.List{})
		time.Sleep(time.Second)
		if _, urgent := f.classify(message); !urgent {
			t.Error("the model without the FAQ does not answer again")
		}
		close(given)
		var lessons []int
		for n := range given {
			lessons = append(lessons, n)
		}
		if fmt.Sprint(lessons) != "[0 4]" {
			t.Errorf("lessons with %v phrasings aside, want none of the shipped entries and of the urgent intent", lessons)
		}
	})
}

func TestMissedQuestionsOfAllProcessesAreStoredWithoutWhoAsked(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		t.Cleanup(w.close)
		all := w.learners(2)
		time.Sleep(time.Second)
		for i, f := range all {
			for range i + 1 {
				f.missed(f.faq(), &chat.Ticket{Message: "parrots for 138-0013-8000, li@shop.example?", Language: chat.English}, faq.Match{Tier: faq.Pass})
			}
			f.missed(f.faq(), &chat.Ticket{Message: parrots, Language: chat.English}, faq.Match{Tier: faq.Offer})
		}
		time.Sleep(missedEvery + time.Second)
		stored := func() []faq.Miss {
			doc, err := all[0].faqs.store.Note(t.Context(), queue.FAQMissed)
			if err != nil {
				t.Fatal(err)
			}
			m, err := faq.ReadMisses(doc)
			if err != nil {
				t.Fatal(err)
			}
			return m.List(10)
		}
		if got := stored(); len(got) != 2 || got[0].Text != "parrots for …, …?" || got[0].Count != 3 || got[1].Count != 2 || got[1].Offered != 2 {
			t.Errorf("%+v", got)
		}
		all[0].store(t, ownList("No parrots.", parrots))
		time.Sleep(time.Second)
		all[1].missed(all[1].faq(), &chat.Ticket{Message: "cats", Language: chat.English}, faq.Match{Tier: faq.Pass})
		time.Sleep(missedEvery)
		if got := stored(); len(got) != 2 || got[0].Count != 3 || got[1].Text != "cats" {
			t.Errorf("%+v, want that what has an entry is gone", got)
		}
	})
}

func TestNumbersAndAddressesOfMailAreHidden(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"call +86 138 0013 8000 now":    "call … now",
		"我的邮箱是 li.wei@shop.example，请回复": "我的邮箱是 …，请回复",
		"order 12345 of 2024":           "order … of 2024",
		"卡号６２２２０２１２３４５６":                "卡号…",
		"nothing to hide in 3 days":     "nothing to hide in 3 days",
	} {
		if got := hideTelling(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestTheFAQIsSwappedWhileItAnswers(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		t.Cleanup(w.close)
		f := w.learners(1)[0]
		f.store(t, ownList("0", parrots))
		time.Sleep(time.Second)
		stop := make(chan struct{})
		var askers sync.WaitGroup
		for range 4 {
			askers.Go(func() {
				before := "0"
				for {
					got := f.says(parrots)
					if len(got) != 1 || got < before {
						t.Errorf("says %q after %q", got, before)
						return
					}
					before = got
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
					}
				}
			})
		}
		for i := range 9 {
			f.store(t, ownList(fmt.Sprint(i+1), parrots))
			time.Sleep(time.Second)
		}
		close(stop)
		askers.Wait()
		if got := f.says(parrots); got != "9" {
			t.Errorf("says %q at last", got)
		}
	})
}
