//go:build pgvector && unix

package main

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/pgvector/pgvtest"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// shelved is one process in real time, beside a real database of vectors.
type shelved struct {
	*life
	t     *testing.T
	asked int
}

func shelve(t *testing.T, w *world) *shelved {
	t.Helper()
	w.real = true
	return &shelved{life: w.live(), t: t}
}

// await waits for what a real database does in its own time.
func (s *shelved) await(what string, done func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%s: not within a minute", what)
		}
	}
}

// inForce waits until the newest version is found in the database.
func (s *shelved) inForce(what string) {
	s.t.Helper()
	s.await(what, func() bool {
		v, err := s.queue.Knowledge(s.t.Context())
		now, near := s.books.now.Load(), s.books.near.Load()
		return err == nil && now != nil && now.rev == v.Rev && near != nil && near.version == now.index.Version() && near.open != nil
	})
}

// found returns how many searches somebody has answered.
func (s *shelved) found(by string) (n int) {
	s.t.Helper()
	page := httptest.NewRecorder()
	s.line.embeddings.live.shelves.metrics.Handler().ServeHTTP(page, httptest.NewRequest("GET", "/", nil))
	for line := range strings.Lines(page.Body.String()) {
		if value, ours := strings.CutPrefix(line, `sluice_vector_searches_total{by="`+by+`"} `); ours {
			_, _ = fmt.Sscan(value, &n)
		}
	}
	return n
}

// answers asks what no cache knows until somebody finds passages, and wants every question
// answered from the documents meanwhile.
func (s *shelved) answers(by string) {
	s.t.Helper()
	before := s.found(by)
	s.await("found by "+by, func() bool {
		s.asked++
		text := fmt.Sprintf("what does error E2 mean on my blender number %d?", s.asked)
		got := s.until(time.Minute, s.accept(s.w.ask(fmt.Sprint("s", s.asked), text, chat.Normal, 20*time.Second)).ID)[0]
		if got.Route != chat.RouteRAG {
			s.t.Errorf("%q: %s (%s)", text, got.Route, got.Reason)
		}
		return s.found(by) > before
	})
}

// nearest returns the text of the passage whose vector is nearest to that of a text.
func (s *shelved) nearest(text string) string {
	s.t.Helper()
	near, err := s.books.near.Load().near.Nearest(s.t.Context(), sim.Embed(text, 64), 1)
	if err != nil || len(near) != 1 {
		s.t.Fatalf("%v, %v", near, err)
	}
	return s.books.now.Load().index.Texts()[near[0].Number]
}

func TestPassagesAreFoundInADatabaseOfVectors(t *testing.T) {
	server := pgvtest.Own(t)
	t.Run("versions", func(t *testing.T) {
		w := newWorld(t, testRules(t, embedRules(t, small)), swift)
		w.vectors = server.URL()
		s := shelve(t, w)
		s.inForce("the shipped documents")
		s.answers(byDatabase)
		first, err := s.queue.Knowledge(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		const desk = "Repairs\nAsk at the third desk about a repair of lamps."
		s.reader().changes(map[string]string{"desk.md": "# Repairs\n\nAsk at the third desk about a repair of lamps.\n"})
		s.reader().publishes()
		s.inForce("a version with one more document")
		if got := s.nearest(desk); got != desk {
			t.Errorf("the new document's text finds %q", got)
		}
		s.reader().changes(map[string]string{"desk.md": ""})
		s.reader().publishes()
		s.inForce("a version without it")
		if got := s.nearest(desk); got == desk {
			t.Error("a document that was taken out is found")
		}
		v, err := s.queue.Knowledge(t.Context())
		if err == nil {
			_, err = s.queue.RollbackKnowledge(t.Context(), v, v.Rev-1, queue.Authorship{Actor: "admin", Reason: "test"})
		}
		if err != nil {
			t.Fatal(err)
		}
		s.inForce("the version before")
		if got := s.nearest(desk); got != desk || first.Rev != 1 {
			t.Errorf("after the rollback of revision %d the text finds %q", v.Rev, got)
		}

		server.Kill(t)
		s.answers(byMemory)
		server.Start(t)
		s.answers(byDatabase)
		s.stop()
		w.close()
	})
	t.Run("too many for the memory", func(t *testing.T) {
		w := newWorld(t, testRules(t, embedRules(t, "vendors: [a], dimensions: 32, batch: 20")), swift)
		w.vectors, w.most = server.URL(), 32*150 // the documents have 205 passages
		s := shelve(t, w)
		s.inForce("the shipped documents")
		if floor := s.books.near.Load().near.Floor; floor <= 0 || floor >= 1 {
			t.Errorf("the floor is %v", floor)
		}
		s.answers(byDatabase)
		server.Kill(t)
		s.answers(byNobody)
		s.stop()
		w.close()
	})
}
