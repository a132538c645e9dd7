package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// receiver is a tenant's own server. It notes what comes and takes it.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []received
}

type received struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, received{req.Header.Clone(), body})
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(r.Close)
	return r
}

// TestAWebhookSurvivesAKill ends a process by kill -9 on each side of what tells a callback_url
// of an end. Whatever was done by then, the next process sees to it that the message arrives,
// under the one id, signed.
func TestAWebhookSurvivesAKill(t *testing.T) {
	t.Parallel()
	vendors := crashVendors(t, sim.Behaviour{FirstToken: sim.Fixed(5 * time.Millisecond), Call: sim.Fixed(10 * time.Millisecond)})
	for _, at := range []struct {
		point queue.Point
		nth   int
		most  int // times that it may arrive
	}{{queue.EndEvent, 1, 1}, {queue.EndStory, 1, 1}, {queue.HookEntry, 1, 1}, {queue.HookEntry, 2, 2}} {
		t.Run(fmt.Sprint(at.point, at.nth), func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t)
			plan := crashPlan{Dir: t.TempDir(), Vendors: vendors, Key: "the key", Callback: r.URL + "/ends", DieAt: at.point, Nth: at.nth}
			mustDie(t, plan)
			plan.DieAt = ""
			report := mustLive(t, plan)
			if report.Hooks[chat.HookDelivered] != 1 || len(report.Hooks) != 1 {
				t.Errorf("webhooks %v, want one that was delivered", report.Hooks)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if len(r.got) < 1 || len(r.got) > at.most {
				t.Errorf("it arrived %d times, may %d", len(r.got), at.most)
			}
			verifier, err := standardwebhooks.NewWebhook(report.Secret)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.got {
				if err := verifier.Verify(m.body, m.header); err != nil {
					t.Error(err)
				}
				if id := m.header.Get("webhook-id"); id != chat.HookID(chat.HookAnswered, report.Ticket.ID) {
					t.Errorf("webhook-id %s", id)
				}
			}
		})
	}
}
