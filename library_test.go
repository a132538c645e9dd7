package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/knowledge"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// reader is the knowledge of one process.
type reader struct {
	*library
	t     *testing.T
	live  *live
	queue *queue.Queue
	stop  func()
}

// reads starts the knowledge of a process on a world.
func (w *world) reads(r *rules.Rules, stock bool) *reader {
	w.t.Helper()
	nc, err := w.broker.Dial()
	if err != nil {
		w.t.Fatal(err)
	}
	q, err := queue.Open(w.t.Context(), nc, queue.Config{Bounds: bounds(r), Log: zerolog.Nop()})
	if err != nil {
		w.t.Fatal(err)
	}
	in, err := unchanging(r)
	if err != nil {
		w.t.Fatal(err)
	}
	in.library = newLibrary(q, in, stock, zerolog.Nop())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- in.library.run(ctx) }()
	return &reader{in.library, w.t, in, q, func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
		nc.Close()
	}}
}

// changes puts documents into the draft, by name; an empty text removes one.
func (r *reader) changes(texts map[string]string) {
	r.t.Helper()
	for name, text := range texts {
		c := queue.Change{Document: queue.DocumentOf(name, text), Removed: text == "", Actor: "admin"}
		if text != "" {
			if _, err := r.queue.KeepText(r.t.Context(), name, text); err != nil {
				r.t.Fatal(err)
			}
		}
		if err := r.queue.SetDraft(r.t.Context(), c); err != nil {
			r.t.Fatal(err)
		}
	}
}

// publishes puts the draft into force and returns its revision.
func (r *reader) publishes() uint64 {
	r.t.Helper()
	v, err := r.queue.Knowledge(r.t.Context())
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		r.t.Fatal(err)
	}
	v, err = r.queue.PublishDraft(r.t.Context(), v, knowledge.MaxDocuments, queue.Authorship{Actor: "admin", Reason: "test"})
	if err != nil {
		r.t.Fatal(err)
	}
	return v.Rev
}

// says returns the text of the best passage.
func (r *reader) says(question string) string {
	hits, _ := r.Search(question, chat.English)
	if len(hits) == 0 {
		return ""
	}
	return hits[0].Text
}

func TestEachProcessAnswersFromTheNewestVersion(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		one, two := w.reads(w.rules, true), w.reads(w.rules, false)
		both := func(want string) {
			t.Helper()
			time.Sleep(time.Second)
			for i, r := range []*reader{one, two} {
				if got := r.says("what does the lamp cost"); got != want {
					t.Errorf("process %d says %q, want %q", i+1, got, want)
				}
			}
		}
		both("") // rules with vendors of their own have no shipped documents
		if k := one.live.knowledge(); k.Index != nil || one.live.knowledge().Version() != cache.None {
			t.Errorf("%+v", k)
		}
		one.changes(map[string]string{"lamp.md": "The lamp costs ten."})
		both("") // a draft is not in force
		first := one.publishes()
		both("The lamp costs ten.")
		ten := one.live.knowledge().Version()
		two.changes(map[string]string{"lamp.md": "The lamp costs twelve.", "chair.md": "The chair costs five."})
		second := two.publishes()
		both("The lamp costs twelve.")
		if twelve := one.live.knowledge().Version(); twelve == ten || twelve != two.live.knowledge().Version() {
			t.Errorf("answers from version %q may be given in version %q", ten, twelve)
		}
		v, err := one.queue.Knowledge(t.Context())
		if err == nil {
			_, err = one.queue.RollbackKnowledge(t.Context(), v, first, queue.Authorship{Actor: "admin", Reason: "wrong"})
		}
		if err != nil || v.Rev != second {
			t.Fatalf("revision %d, %v", v.Rev, err)
		}
		both("The lamp costs ten.")
		if again := two.live.knowledge().Version(); again != ten {
			t.Errorf("the same documents are version %q, then %q", ten, again)
		}
		one.stop()
		one = w.reads(w.rules, true) // a restart
		both("The lamp costs ten.")
		if k := one.live.knowledge(); k.Index.Documents() != 1 || k.Threshold != 0.3 || k.Passages != 3 {
			t.Errorf("%+v", k)
		}
		one.stop()
		two.stop()
		w.close()
	})
}

func TestAVersionThatCannotBeBuiltLeavesTheFormerInForce(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{})
		r := w.reads(w.rules, true)
		r.changes(map[string]string{"lamp.md": "The lamp costs ten."})
		first := r.publishes()
		time.Sleep(time.Second)
		// Nothing checks what is put into the store beside the API.
		r.changes(map[string]string{"bad.csv": "a,b\n1\n", "lamp.md": "The lamp costs twelve."})
		second := r.publishes()
		time.Sleep(time.Second)
		if rev, _, err := r.InForce(); rev != first || err == nil || r.says("lamp costs") != "The lamp costs ten." {
			t.Errorf("revision %d, %v, %q", rev, err, r.says("lamp costs"))
		}
		if state, err := r.check(t.Context()); err == nil || !strings.Contains(state, "cannot be put into force") {
			t.Errorf("%s, %v", state, err)
		}
		r.changes(map[string]string{"bad.csv": ""})
		third := r.publishes()
		time.Sleep(time.Second)
		if rev, _, err := r.InForce(); rev != third || err != nil || third != second+1 || r.says("lamp costs") != "The lamp costs twelve." {
			t.Errorf("revision %d, %v", rev, err)
		}
		r.stop()
		w.close()
	})
}

func TestShippedDocumentsAreTheFirstVersionAndAFolderTakesTheirPlace(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		folder := t.TempDir()
		write := func(name, text string) {
			t.Helper()
			file := filepath.Join(folder, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		w := newWorld(t, testRules(t, smallRules+"knowledge: {shipped: true}\n"), sim.Behaviour{})
		named := testRules(t, smallRules+"knowledge: {shipped: true, folder: '"+folder+"'}\n")
		start := func(rules *rules.Rules, documents int, rev uint64) *reader {
			t.Helper()
			r := w.reads(rules, true)
			time.Sleep(time.Second)
			if got, _, err := r.InForce(); err != nil || got != rev || r.live.knowledge().Index.Documents() != documents {
				t.Errorf("revision %d with %d documents, %v; want %d with %d", got, r.live.knowledge().Index.Documents(), err, rev, documents)
			}
			return r
		}
		start(w.rules, 24, 1).stop()
		r := start(w.rules, 24, 1) // the same again is no new version
		r.changes(map[string]string{"note.md": "An operator's note.", "lamp.md": "Another lamp."})
		r.publishes()
		r.stop()
		write("lamp.md", "The lamp costs ten.")
		write("sub/chair.txt", "The chair costs five.")
		write("ignored.pdf", "no")
		start(named, 3, 3).stop()
		start(named, 3, 3).stop()
		write("lamp.md", "The lamp costs twelve.")
		if err := os.Remove(filepath.Join(folder, "sub/chair.txt")); err != nil {
			t.Fatal(err)
		}
		r = start(named, 2, 4)
		if got := r.says("lamp costs"); got != "The lamp costs twelve." {
			t.Errorf("says %q", got)
		}
		entries, err := r.queue.Audits(t.Context(), 0, 10)
		if err != nil || len(entries) != 3 || entries[0].Actor != "sluice" || entries[0].Target != "4" || !strings.Contains(entries[0].Reason, folder) {
			t.Errorf("%+v, %v", entries, err)
		}
		r.stop()
		write("bad.csv", "a,b\n1\n")
		start(named, 2, 4).stop() // a fault in the folder changes nothing
		w.close()
	})
}
