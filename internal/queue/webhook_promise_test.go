package queue

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

// TestABrokenPromiseIsAnnouncedOnce breaks one whose answer never came and one whose text did
// not arrive, each with a process that dies on the way, and keeps a third.
func TestABrokenPromiseIsAnnouncedOnce(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		outbox := NewOutbox(w.Queue)
		_, late := w.promised("s1")
		_, lost := w.notified("s2")
		n, err := w.Notice(t.Context(), lost)
		if err != nil {
			t.Fatal(err)
		}
		n.Fail("30003", time.Now())
		if n, _, err = outbox.Set(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		for _, p := range []Point{PromiseHook, NoticeKept, NoticeSettled, ""} {
			w.stop(p)
			if err := outbox.Settle(t.Context(), n, chat.PromiseBroken); (err == nil) != (p == "") {
				t.Errorf("%s: %v", p, err)
			}
		}
		for _, p := range []Point{PromiseHook, PromiseKept, ""} {
			w.stop(p)
			_, err := w.SettlePromise(t.Context(), late, chat.PromiseBroken, chat.ReasonOverdue, time.Now())
			if (err == nil) != (p == "") {
				t.Errorf("%s: %v", p, err)
			}
		}
		w.wantPromise("s1", late, chat.Promised, chat.PromiseBroken)
		w.wantPromise("s2", lost, chat.Promised, chat.PromiseSent, chat.PromiseBroken)
		_, kept := w.notified("s3")
		w.wantPromise("s3", kept, chat.Promised, chat.PromiseSent)

		hooks, _, err := w.Hooks(t.Context(), chat.HookWaiting, 10)
		if err != nil || len(hooks) != 2 {
			t.Fatalf("%d webhooks (%v), want two", len(hooks), err)
		}
		want := map[string]chat.Reason{late: chat.ReasonOverdue, lost: chat.ReasonUndelivered}
		for _, h := range hooks {
			raw, err := w.HookBody(t.Context(), h.ID)
			if err != nil {
				t.Fatal(err)
			}
			var body struct {
				Type string             `json:"type"`
				Data chat.BrokenPromise `json:"data"`
			}
			if err := json.Unmarshal(raw, &body); err != nil {
				t.Fatal(err)
			}
			d := body.Data
			if h.Type != chat.HookBroken || h.URL != "" || h.Tenant != "demo" || body.Type != "promise.broken" || d.Ticket != h.About ||
				d.Parent == "" || d.Session == "" || d.Code != chat.ShortCode(d.Ticket) || d.Reason != want[d.Ticket] || d.DueAt.IsZero() || d.BrokenAt.IsZero() {
				t.Errorf("%+v: %s", h, raw)
			}
			if strings.Contains(string(raw), "13800138000") || strings.Contains(string(raw), "order?") {
				t.Errorf("it tells too much: %s", raw)
			}
			delete(want, d.Ticket)
		}
	})
}
