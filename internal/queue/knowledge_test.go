package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// drafts stores a text and notes it in the draft; an empty one removes the document.
func (w *world) drafts(name, text string) {
	w.t.Helper()
	c := Change{Document: Document{Name: name}, Removed: text == "", At: time.Now(), Actor: "admin"}
	if text != "" {
		var err error
		if c.Document, err = w.KeepText(w.t.Context(), name, text); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.SetDraft(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) publishes(over KnowledgeVersion) KnowledgeVersion {
	w.t.Helper()
	next, err := w.PublishDraft(w.t.Context(), over, 20, Authorship{Actor: "admin", Reason: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	return next
}

// reads returns the texts of a version, by name.
func (w *world) reads(q *Queue, v KnowledgeVersion) string {
	w.t.Helper()
	documents, err := q.Documents(w.t.Context(), v)
	if err != nil {
		w.t.Fatal(err)
	}
	var all strings.Builder
	for _, d := range documents {
		text, err := q.Text(w.t.Context(), d)
		if err != nil {
			w.t.Fatal(err)
		}
		all.WriteString(d.Name + "=" + text + " ")
	}
	return all.String()
}

func TestADraftIsPublishedWholeAndVersionsComeBack(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if _, err := w.Knowledge(t.Context()); !errors.Is(err, ErrNotFound) {
			t.Errorf("before the first: %v", err)
		}
		none := KnowledgeVersion{}
		if _, err := w.PublishDraft(t.Context(), none, 20, Authorship{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("an empty draft: %v", err)
		}
		w.drafts("lamp.md", "ten")
		w.drafts("chair.md", "five")
		first := w.publishes(none)
		w.drafts("lamp.md", "twelve")
		w.drafts("chair.md", "")
		w.drafts("sofa.md", "ninety")
		if got := w.reads(w.Queue, first); got != "chair.md=five lamp.md=ten " {
			t.Errorf("the first version has %q", got)
		}
		if _, err := w.PublishDraft(t.Context(), none, 20, Authorship{}); !errors.Is(err, ErrLost) {
			t.Errorf("over a version that is not the newest: %v", err)
		}
		if _, err := w.PublishDraft(t.Context(), first, 1, Authorship{}); !errors.Is(err, ErrFull) {
			t.Errorf("more than most: %v", err)
		}
		second := w.publishes(first)
		if got := w.reads(w.Queue, second); got != "lamp.md=twelve sofa.md=ninety " || second.Size != 12 {
			t.Errorf("the second version has %q, %+v", got, second)
		}
		w.drafts("bed.md", "eighty")
		back, err := w.RollbackKnowledge(t.Context(), second, first.Rev, Authorship{Actor: "admin", Reason: "wrong prices"})
		if err != nil || back.From != first.Rev {
			t.Fatalf("%+v, %v", back, err)
		}
		again := w.open() // a restart: nothing of it is in the process
		now, err := again.Knowledge(t.Context())
		if err != nil || now.Rev != back.Rev || now.Reason != "wrong prices" || w.reads(again, now) != "chair.md=five lamp.md=ten " {
			t.Errorf("%+v, %v", now, err)
		}
		if changes, err := again.Draft(t.Context(), now); err != nil || len(changes) != 1 || changes[0].Name != "bed.md" {
			t.Errorf("the draft is %+v, %v", changes, err)
		}
		history, err := again.KnowledgeHistory(t.Context())
		if err != nil || len(history) != 3 || history[0].Rev != back.Rev || history[2].Rev != first.Rev {
			t.Errorf("%+v, %v", history, err)
		}
		if _, err := again.RollbackKnowledge(t.Context(), now, 99, Authorship{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("a version that never was: %v", err)
		}
	})
}

func TestWhatIsChangedDuringAPublicationStaysInTheDraft(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.drafts("lamp.md", "ten")
		_, through, err := w.draft(t.Context(), KnowledgeVersion{})
		if err != nil {
			t.Fatal(err)
		}
		w.drafts("lamp.md", "twelve")
		late := KnowledgeVersion{Through: through}
		changes, err := w.Draft(t.Context(), late)
		if err != nil || len(changes) != 1 || changes[0].Size != len("twelve") {
			t.Errorf("%+v, %v", changes, err)
		}
	})
}

func TestOnlyTheLastVersionsAreKept(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		v := KnowledgeVersion{}
		var texts []Document
		for i := range KeepVersions + 3 {
			w.drafts("lamp.md", fmt.Sprint("price ", i))
			v = w.publishes(v)
			documents, err := w.Documents(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, documents...)
		}
		history, err := w.KnowledgeHistory(t.Context())
		if err != nil || len(history) != KeepVersions || history[0].Rev != v.Rev {
			t.Fatalf("%d versions, %v", len(history), err)
		}
		w.drafts("sofa.md", "ninety")
		if _, err := w.KeepText(t.Context(), "bed.md", "abandoned"); err != nil {
			t.Fatal(err)
		}
		swept, err := w.SweepKnowledge(t.Context(), time.Now())
		if err != nil || swept != 1 { // the published change of the lamp; texts are young still
			t.Errorf("%d swept, %v", swept, err)
		}
		later := time.Now().Add(youngFor + time.Minute)
		// Of three versions the text and the list, the abandoned text, and no more.
		if swept, err = w.SweepKnowledge(t.Context(), later); err != nil || swept != 7 {
			t.Errorf("%d swept, %v", swept, err)
		}
		for i, d := range texts {
			if _, err := w.Text(t.Context(), d); errors.Is(err, ErrNotFound) != (i < 3) {
				t.Errorf("text %d: %v", i, err)
			}
		}
		if got := w.reads(w.Queue, history[len(history)-1]); got != "lamp.md=price 3 " {
			t.Errorf("the oldest version has %q", got)
		}
		if next := w.publishes(v); next.Documents != 2 {
			t.Errorf("%+v", next)
		}
		if swept, err = w.SweepKnowledge(t.Context(), later); err != nil || swept != 3 { // the change, and the oldest version's
			t.Errorf("%d swept, %v", swept, err)
		}
	})
}

func TestAFollowerHearsOfEachPublication(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		other := w.open()
		var knows atomic.Uint64
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			other.FollowKnowledge(ctx, func(ctx context.Context) {
				if v, err := other.Knowledge(ctx); err == nil {
					knows.Store(v.Rev)
				}
			})
		}()
		v := KnowledgeVersion{}
		var revs []uint64
		for i := range 3 {
			w.drafts("lamp.md", fmt.Sprint(i))
			v = w.publishes(v)
			time.Sleep(20 * time.Millisecond) // much less than it takes without a watch
			revs = append(revs, knows.Load())
		}
		if !slices.Equal(revs, []uint64{1, 2, 3}) {
			t.Errorf("knows of %v", revs)
		}
		cancel()
		<-ended
	})
}
