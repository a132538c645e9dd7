package queue

import (
	"context"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

const owedFor = time.Minute

// manyTexts are caps that no test of promises reaches.
var manyTexts = chat.TextCaps{PerNumber: 100, PerTenant: 100}

// asking is a ticket whose holder is about to end it with the template.
type asking struct {
	job *Job
	Stored
}

// ask accepts a message with a phone number and gives it a holder.
func (w *world) ask(session string) asking {
	w.t.Helper()
	m := message(session, "Where is my order?")
	m.Phone = "+8613800138000"
	w.accept(m)
	j := w.pull(chat.Normal)
	s, err := w.Admit(w.t.Context(), j)
	if err != nil {
		w.t.Fatal(err)
	}
	return asking{j, s}
}

// owe makes the promise ready and returns its follow-up.
func (w *world) owe(a *asking) string {
	w.t.Helper()
	id, made, err := w.Promise(w.t.Context(), &a.Ticket, time.Now(), owedFor, manyTexts)
	if err != nil {
		w.t.Fatalf("promise: %v", err)
	}
	a.Ticket.Answer(chat.Answer{
		Reply: chat.Reply{Text: "Later.", Locale: "en"}, Route: chat.RouteTemplate, Reason: chat.ReasonOverdue, FollowUp: id, Promise: &made,
	}, time.Now())
	return id
}

// promised ends a message of a session with a promise.
func (w *world) promised(session string) (parent, id string) {
	w.t.Helper()
	a := w.ask(session)
	id = w.owe(&a)
	if _, err := w.End(w.t.Context(), a.job, a.Stored); err != nil {
		w.t.Fatalf("end: %v", err)
	}
	return a.ID, id
}

// watched lets the stage look after promises until stop.
func (w *world) watched() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = NewPromises(w.Queue, zerolog.Nop()).Run(ctx) }()
	return func() { cancel(); <-done }
}

// standing of a promise: by the record, by the events of its session, among the open ones.
func (w *world) wantPromise(session, id string, want ...chat.PromiseStatus) {
	w.t.Helper()
	last := want[len(want)-1]
	if o, err := w.Owed(w.t.Context(), id); err != nil || o.Status != last {
		w.t.Errorf("promise is %s (%v), want %s", o.Status, err, last)
	}
	var told []chat.PromiseStatus
	events, _, _, err := w.Events(w.t.Context(), "demo", session, 0, 100)
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			w.t.Errorf("event %d has seq %d", i+1, e.Seq)
		}
		if e.Kind == chat.KindPromise && e.Ticket == id {
			told = append(told, e.Promise.Status)
		}
	}
	if err != nil || !slices.Equal(told, want) {
		w.t.Errorf("the session was told %v (%v), want %v", told, err, want)
	}
	if _, err := w.openOwed(w.t.Context(), id); (err == nil) != (last == chat.Promised) {
		w.t.Errorf("open: %v", err)
	}
}

func (w *world) notices(want int) []chat.Notice {
	w.t.Helper()
	all, err := w.Notices(w.t.Context(), 0, 100)
	if err != nil || len(all) != want {
		w.t.Errorf("%d notices (%v), want %d", len(all), err, want)
	}
	return all
}
