package ledger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/internal/ledger"
	"sluice/internal/ledger/ledgertest"
)

func TestRatingsAreListedAndCountedByDay(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	l := openAt(t, url)
	rated := func(seq uint64, at time.Time, tenant, id string, score int, comment string) ledger.EventRow {
		e := event(seq, at)
		e.Tenant, e.Ticket, e.Kind, e.Who = tenant, id, "rating", ""
		e.Body = json.RawMessage(fmt.Sprintf(`{"seq": %d, "ticket": %q, "rating": {"score": %d%s}}`, seq, id, score, comment))
		return e
	}
	by := func(id, route string) ledger.TicketRow {
		row := ticket(id, 1)
		row.Route, row.Intent = route, "order_query"
		return row
	}
	next := noon.AddDate(0, 0, 1) // in another month
	record(t, l, []ledger.TicketRow{by("t_a", "agent"), by("t_b", "agent"), by("t_c", "faq")}, []ledger.EventRow{
		rated(1, noon, "demo", "t_a", 5, ""), rated(2, noon, "demo", "t_b", 2, `, "comment": "so so"`), rated(3, next, "demo", "t_c", 4, ""),
		rated(4, next, "demo", "t_d", 1, ""), rated(5, noon.Add(time.Hour), "shop", "t_e", 3, ""), event(6, noon),
	})
	page := func(tenant string, at time.Time, after string, limit int) (ids []string, last ledger.RatingRow) {
		t.Helper()
		rows, err := l.Ratings(t.Context(), tenant, at, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			ids, last = append(ids, r.Ticket), r
		}
		return ids, last
	}
	if ids, _ := page("", time.Time{}, "", 10); !slices.Equal(ids, []string{"t_d", "t_c", "t_e", "t_b", "t_a"}) {
		t.Errorf("all: %v", ids)
	}
	first, last := page("demo", time.Time{}, "", 3)
	rest, _ := page("demo", last.At, last.Ticket, 3)
	if !slices.Equal(first, []string{"t_d", "t_c", "t_b"}) || !slices.Equal(rest, []string{"t_a"}) {
		t.Errorf("of demo: %v, then %v", first, rest)
	}
	if last.Score != 2 || last.Comment != "so so" || last.Route != "agent" || last.Intent != "order_query" || !last.At.Equal(noon) {
		t.Errorf("%+v", last)
	}
	if one, err := l.Rating(t.Context(), "demo", "t_a"); err != nil || one.Score != 5 || one.Comment != "" {
		t.Errorf("%+v, %v", one, err)
	}
	for _, key := range [][2]string{{"shop", "t_a"}, {"demo", "t_1"}} {
		if _, err := l.Rating(t.Context(), key[0], key[1]); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%q: %v", key, err)
		}
	}
	days := query[string](t, url, `select string_agg(concat_ws(' ', route, day, ratings, score, bad), ', ' order by day, route)
		from rating_days where tenant = 'demo'`)
	if want := "agent 2026-03-31 2 3.50 1,  2026-04-01 1 1.00 1, faq 2026-04-01 1 4.00 0"; days != want {
		t.Errorf("days: %s\nwant: %s", days, want)
	}
}
