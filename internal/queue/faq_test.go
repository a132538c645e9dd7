package queue

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

var authored = Authorship{Actor: "admin", Reason: "because of a test"}

func TestRevisionsOfTheFAQComeBackAsTheyWereStored(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		store := w.FAQ()
		if _, err := store.Current(t.Context()); !errors.Is(err, ErrNotFound) {
			t.Errorf("before the first: %v", err)
		}
		small, large := []byte("small"), noise(2_000_000)
		first, err := store.Change(t.Context(), small, 0, authored)
		if err != nil {
			t.Fatal(err)
		}
		second, err := store.Change(t.Context(), large, first, Authorship{Actor: "li", Reason: "更多", From: 1})
		if err != nil || first != 1 || second != 2 {
			t.Fatalf("revisions %d and %d, %v", first, second, err)
		}
		for _, late := range []uint64{0, first, 7} {
			if _, err := store.Change(t.Context(), small, late, authored); !errors.Is(err, ErrLost) {
				t.Errorf("over revision %d: %v, want ErrLost", late, err)
			}
		}
		now, err := store.Current(t.Context())
		if err != nil || now.Rev != second || !bytes.Equal(now.Document, large) || now.Actor != "li" || now.From != 1 {
			t.Errorf("revision %d of %d bytes by %s, %v", now.Rev, len(now.Document), now.Actor, err)
		}
		old, err := store.Revision(t.Context(), first)
		if err != nil || string(old.Document) != "small" || old.Authorship != authored {
			t.Errorf("%+v, %v", old, err)
		}
		if _, err := store.Revision(t.Context(), 3); !errors.Is(err, ErrNotFound) {
			t.Errorf("revision 3: %v", err)
		}
		all, err := store.History(t.Context())
		if err != nil || len(all) != 2 || all[0].Rev != 2 || all[0].Size != len(large) || all[0].Document != nil || all[1].Rev != 1 {
			t.Errorf("%+v, %v", all, err)
		}
		if _, err := store.Change(t.Context(), make([]byte, MaxFAQ+1), second, authored); !errors.Is(err, ErrLarge) {
			t.Errorf("a document that is too large: %v", err)
		}
		if _, err := store.Change(t.Context(), noise(maxParts*partSize+partSize), second, authored); !errors.Is(err, ErrLarge) {
			t.Errorf("a document that is too large when compressed: %v", err)
		}
	})
}

// noise is text that hardly becomes smaller.
func noise(n int) []byte {
	all := make([]byte, n)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range all {
		all[i] = byte(random.Uint32())
	}
	return all
}

func TestFormerRevisionsOfTheFAQMakeRoom(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		store := w.FAQ()
		change := func(text string, rev uint64) uint64 {
			t.Helper()
			next, err := store.Change(t.Context(), []byte(text), rev, authored)
			if err != nil {
				t.Fatal(err)
			}
			return next
		}
		rev := uint64(0)
		for i := range KeepFAQ + 5 {
			rev = change("text "+strconv.Itoa(i), rev)
		}
		if n := w.parts(); n != KeepFAQ+5 {
			t.Errorf("%d parts are kept, want all while they are young", n)
		}
		time.Sleep(strayAge + time.Minute)
		rev = change("text 3", rev) // an old part, young again
		if n := w.parts(); n != KeepFAQ {
			t.Errorf("%d parts are kept, want those of the revisions", n)
		}
		all, err := store.History(t.Context())
		if err != nil || len(all) != KeepFAQ || all[0].Rev != rev {
			t.Errorf("%d revisions from %d on, %v", len(all), rev, err)
		}
		for _, r := range all {
			if _, err := store.Revision(t.Context(), r.Rev); err != nil {
				t.Errorf("revision %d: %v", r.Rev, err)
			}
		}
	})
}

// parts counts the parts that are stored.
func (w *world) parts() int {
	w.t.Helper()
	keys, err := w.faq.ListKeysFiltered(w.t.Context(), partPrefix+"*")
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for range keys.Keys() {
		n++
	}
	return n
}

func TestOfTwoAuthorsOfTheFAQOneIsFirst(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		store := w.FAQ()
		var authors sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			authors.Go(func() {
				_, errs[i] = store.Change(t.Context(), []byte("of author "+strconv.Itoa(i)), 0, authored)
			})
		}
		authors.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, ErrLost) {
				t.Error(err)
			}
		}
		all, err := store.History(t.Context())
		if won != 1 || err != nil || len(all) != 1 {
			t.Errorf("%d authors were first, %d revisions, %v", won, len(all), err)
		}
	})
}

func TestFollowersOfTheFAQHearOfAChange(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		store := w.FAQ()
		ctx, cancel := context.WithCancel(t.Context())
		heard := make(chan string, 100)
		var follower sync.WaitGroup
		last := uint64(0)
		follower.Go(func() {
			store.Follow(ctx, func(ctx context.Context) {
				place, err := store.Last(ctx)
				if err != nil || place == last {
					return
				}
				last = place
				if now, err := store.Current(ctx); err == nil {
					heard <- string(now.Document)
				}
			})
		})
		for rev, text := range []string{"one", "two"} {
			if _, err := store.Change(t.Context(), []byte(text), uint64(rev), authored); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		cancel()
		follower.Wait()
		close(heard)
		var all []string
		for text := range heard {
			all = append(all, text)
		}
		if len(all) == 0 || all[len(all)-1] != "two" || all[0] != "one" {
			t.Errorf("heard %q", all)
		}
	})
}

func TestMissedQuestionsOfAllNodesAreAddedUp(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		store := w.FAQ()
		if stored, err := store.Note(t.Context(), FAQMissed); stored != nil || err != nil {
			t.Errorf("before the first: %q, %v", stored, err)
		}
		var nodes sync.WaitGroup
		for range 5 {
			nodes.Go(func() {
				err := store.ChangeNote(t.Context(), FAQMissed, func(stored []byte) ([]byte, error) { return append(stored, 'x'), nil })
				if err != nil {
					t.Error(err)
				}
			})
		}
		nodes.Wait()
		stored, err := store.Note(t.Context(), FAQMissed)
		if err != nil || string(stored) != "xxxxx" {
			t.Errorf("%q, %v", stored, err)
		}
		err = store.ChangeNote(t.Context(), FAQDrafts, func([]byte) ([]byte, error) { return make([]byte, maxNote+1), nil })
		if !errors.Is(err, ErrLarge) {
			t.Errorf("too many: %v", err)
		}
	})
}

func TestADamagedDocumentOfTheFAQIsNotRead(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		store := w.FAQ()
		if _, err := store.Change(t.Context(), []byte(strings.Repeat("text ", 100)), 0, authored); err != nil {
			t.Fatal(err)
		}
		kept, _, err := store.kept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.faq.Delete(t.Context(), partPrefix+kept[0].Parts[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Current(t.Context()); !errors.Is(err, jetstream.ErrKeyNotFound) {
			t.Errorf("without its part: %v", err)
		}
	})
}
