package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// ratingShelf is a history of ratings, the newest first, or is away.
type ratingShelf struct {
	away error
	all  []RatedAnswer
}

func (s ratingShelf) Rating(_ context.Context, tenant, ticket string) (chat.Rated, error) {
	for _, r := range s.all {
		if r.Tenant == tenant && r.TicketID == ticket {
			return chat.Rated{Rating: chat.Rating{Score: r.Score, Comment: r.Comment}, At: r.At}, s.away
		}
	}
	return chat.Rated{}, or(s.away, queue.ErrNotFound)
}

func (s ratingShelf) Ratings(_ context.Context, tenant string, at time.Time, _ string, limit int) (found []RatedAnswer, _ error) {
	for _, r := range s.all {
		if (tenant == "" || r.Tenant == tenant) && (at.IsZero() || r.At.Before(at)) && len(found) < limit {
			found = append(found, r)
		}
	}
	return found, s.away
}

func TestATicketShowsItsRating(t *testing.T) {
	t.Parallel()
	ended := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	old := chat.Ticket{ID: chat.NewTicketID(), Tenant: "demo", Session: "s0", Status: chat.Answered, Lane: chat.Low, AcceptedAt: ended, EndedAt: &ended}
	f := setup(t, func(d *Deps, _ *Config, _ *queue.Config) {
		d.History, d.Ratings = shelf{ticket: old}, ratingShelf{all: []RatedAnswer{{TicketID: old.ID, Tenant: "demo", Score: 2, At: ended}}}
	})
	f.submit(map[string]any{"message": "hello", "session_id": "s1"})
	job, s := f.take(chat.High)
	f.end(job, s)
	shown := func(id string) string {
		t.Helper()
		a := f.call("GET", "/v1/tickets/"+id, f.demo.Secret, nil)
		raw, err := json.Marshal(a.json["rating"])
		must(t, err)
		if a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.raw)
		}
		return string(raw)
	}
	if got := shown(s.ID); got != "null" {
		t.Errorf("before it was rated: %s", got)
	}
	_, err := f.queue.Rate(t.Context(), "demo", "s1", s.ID, chat.Rating{Score: 4, Comment: "fine"}, ended)
	must(t, err)
	if got := shown(s.ID); got != `{"at":"2025-01-02T03:04:05Z","comment":"fine","score":4}` {
		t.Errorf("live: %s", got)
	}
	if got := shown(old.ID); got != `{"at":"2025-01-02T03:04:05Z","score":2}` {
		t.Errorf("from history: %s", got)
	}
}

func TestOperatorsListRatings(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var all []RatedAnswer
	for i, tenant := range []string{"demo", "shop", "demo"} {
		all = append(all, RatedAnswer{TicketID: chat.NewTicketID(), Tenant: tenant, SessionID: "s", Score: 3 + i%2, At: at.Add(-time.Duration(i) * time.Minute)})
	}
	all[0].Comment = "Call me: 138 0013 8000, or ann@example.com"
	f := nodes(t, 1)[0]
	page := func(path string) (ids []string, next string) {
		t.Helper()
		a := f.admin("GET", path, nil)
		var p RatingPage
		must(t, json.Unmarshal(a.raw, &p))
		for _, r := range p.Ratings {
			ids = append(ids, r.TicketID)
		}
		if text := string(a.raw); a.status != http.StatusOK || strings.Contains(text, "0013") || strings.Contains(text, "ann@") {
			t.Errorf("%s: %d %s", path, a.status, a.raw)
		}
		return ids, p.Next
	}
	refused(t, f.admin("GET", "ratings", nil), http.StatusServiceUnavailable, "history_unavailable")
	f.deps.Ratings = ratingShelf{all: all}
	first, next := page("ratings?limit=2")
	second, end := page("ratings?limit=2&before=" + next)
	if !slices.Equal(append(first, second...), []string{all[0].TicketID, all[1].TicketID, all[2].TicketID}) || next == "" || end != "" {
		t.Errorf("%v (%s), then %v (%s)", first, next, second, end)
	}
	if own, _ := page("ratings?tenant=shop"); !slices.Equal(own, []string{all[1].TicketID}) {
		t.Errorf("of one tenant: %v", own)
	}
	for _, wrong := range []string{"ratings?before=yesterday", "ratings?before=1-nobody", "ratings?limit=0"} {
		refused(t, f.admin("GET", wrong, nil), http.StatusBadRequest, "invalid")
	}
	refused(t, f.call("GET", "/admin/api/ratings", f.demo.Secret, nil), http.StatusUnauthorized, "unauthorized")
	f.deps.Ratings = ratingShelf{away: errors.New("connect: refused")}
	refused(t, f.admin("GET", "ratings", nil), http.StatusServiceUnavailable, "history_unavailable")
}

func TestOperatorsSeeTheRatingOfATicket(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.submit(map[string]any{"message": "hello", "session_id": "s1"})
	job, s := f.take(chat.High)
	f.end(job, s)
	_, err := f.queue.Rate(t.Context(), "demo", "s1", s.ID, chat.Rating{Score: 4, Comment: "call 138 0013 8000"}, time.Now().UTC())
	must(t, err)
	a := f.admin("GET", "tickets/"+s.ID, nil)
	if text := string(a.raw); a.status != http.StatusOK || !strings.Contains(text, `"rating":{"score":4,"comment":"call [PHONE_1]"`) {
		t.Errorf("%d %s", a.status, a.raw)
	}
}
