package queue

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"
)

func (w *world) rules() *RuleStore {
	w.t.Helper()
	store, err := OpenRules(w.t.Context(), w.nc, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	return store
}

func TestRevisionsOfTheRulesKeepTheirAuthors(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		store := w.rules()
		if _, err := store.Current(t.Context()); !errors.Is(err, ErrNotFound) {
			t.Errorf("before the first: %v", err)
		}
		first, err := store.Store(t.Context(), []byte("first"), 0)
		if err != nil {
			t.Fatal(err)
		}
		// Another key of the bucket takes a revision number of its own.
		if err := store.Opening().Do(t.Context(), func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		author := Authorship{Actor: "admin", Reason: "因为 \"quota\"", From: 7}
		second, err := store.Change(t.Context(), []byte("second"), first, author)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Change(t.Context(), []byte("late"), first, author); !errors.Is(err, ErrLost) {
			t.Errorf("over an old revision: %v, want ErrLost", err)
		}
		now, err := store.Current(t.Context())
		if err != nil || now.Rev != second || now.Authorship != author || string(now.Document) != "second" || now.At.IsZero() {
			t.Errorf("%+v, %v", now, err)
		}
		old, err := store.Revision(t.Context(), first)
		if err != nil || string(old.Document) != "first" || old.Actor != "sluice" {
			t.Errorf("%+v, %v", old, err)
		}
		for _, rev := range []uint64{first + 1, 99} {
			if _, err := store.Revision(t.Context(), rev); !errors.Is(err, ErrNotFound) {
				t.Errorf("revision %d: %v, want ErrNotFound", rev, err)
			}
		}
		all, err := store.History(t.Context())
		if err != nil || len(all) != 2 || all[0].Rev != second || all[0].Size != 6 || all[0].Document != nil || all[1].Rev != first {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestTheHistoryOfTheRulesIsBounded(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		store := w.rules()
		rev := uint64(0)
		for i := range KeepRevisions + 6 {
			var err error
			if rev, err = store.Change(t.Context(), []byte(strconv.Itoa(i)), rev, Authorship{Actor: "admin"}); err != nil {
				t.Fatal(err)
			}
		}
		all, err := store.History(t.Context())
		if err != nil || len(all) != KeepRevisions || all[0].Rev != rev {
			t.Errorf("%d revisions, %v", len(all), err)
		}
	})
}

func TestAFollowerHearsOfEachDocument(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		store := w.rules()
		rev, err := store.Store(t.Context(), []byte("a"), 0)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var doc []byte
		ctx, cancel := context.WithCancel(t.Context())
		var follower sync.WaitGroup
		follower.Go(func() {
			store.Follow(ctx, func(ctx context.Context) {
				mu.Lock()
				defer mu.Unlock()
				doc, _, _ = store.Load(ctx)
			})
		})
		for _, want := range []string{"b", "c", "d"} {
			if rev, err = store.Change(t.Context(), []byte(want), rev, Authorship{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // much less than it takes without a watch
			mu.Lock()
			if !bytes.Equal(doc, []byte(want)) {
				t.Errorf("knows %q, want %q", doc, want)
			}
			mu.Unlock()
		}
		cancel()
		follower.Wait()
	})
}
