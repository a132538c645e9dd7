package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/mask"
)

// RatedAnswer is what a customer thinks of an answer, as operators see it.
type RatedAnswer struct {
	TicketID  string     `json:"ticket_id"`
	Tenant    string     `json:"tenant"`
	SessionID string     `json:"session_id"`
	Score     int        `json:"score" minimum:"1" maximum:"5"`
	Comment   string     `json:"comment,omitempty" doc:"the customer's own words; phone numbers, mail addresses, cards and papers are hidden"`
	At        time.Time  `json:"at"`
	Route     chat.Route `json:"route,omitempty" doc:"how the answer was made"`
	Intent    string     `json:"intent,omitempty"`
	Lane      chat.Lane  `json:"lane,omitempty"`
}

// RatingPage is a part of the ratings.
type RatingPage struct {
	Ratings []RatedAnswer `json:"ratings" nullable:"false" doc:"newest first"`
	Next    string        `json:"next,omitempty" doc:"ask again with before; left out: there are no older ones"`
}

type ratingsInput struct {
	Tenant string `query:"tenant" maxLength:"32" doc:"left out: of all tenants"`
	Before string `query:"before" maxLength:"64" doc:"the next of the page before; left out: from the newest on"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

type ratingsOutput struct{ Body RatingPage }

func (a *API) registerRatings(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-ratings", Method: http.MethodGet, Path: "ratings", Summary: "List what customers think of answers",
		Description: "From history, seconds after they were given: 503 `history_unavailable` while the database is away.",
	}, []int{400}, a.ratings)
}

func (a *API) ratings(ctx context.Context, in *ratingsInput) (*ratingsOutput, error) {
	if in.Tenant != "" && !chat.IsTenantName(in.Tenant) {
		return nil, notFound("tenant")
	}
	at, ticket, err := parseRatingPlace(in.Before)
	if err != nil {
		return nil, err
	}
	if a.deps.Ratings == nil {
		return nil, errHistory(errors.New("this process has no history"))
	}
	all, err := a.deps.Ratings.Ratings(ctx, in.Tenant, at, ticket, in.Limit)
	if err != nil {
		return nil, errHistory(err)
	}
	page := RatingPage{Ratings: make([]RatedAnswer, 0, len(all))}
	for _, r := range all {
		r.Comment = mask.New().Hide(r.Comment, false)
		page.Ratings = append(page.Ratings, r)
	}
	if n := len(all); n == in.Limit {
		page.Next = strconv.FormatInt(all[n-1].At.UnixMicro(), 10) + "-" + all[n-1].TicketID
	}
	return &ratingsOutput{page}, nil
}

// ratedHidden is rated as operators see it.
func (a *API) ratedHidden(ctx context.Context, t *chat.Ticket) (*chat.Rated, error) {
	r, err := a.rated(ctx, t)
	if r != nil {
		r.Comment = mask.New().Hide(r.Comment, false)
	}
	return r, err
}

// parseRatingPlace reads the place of a page: microseconds and a ticket; empty: the newest.
func parseRatingPlace(before string) (at time.Time, ticket string, err error) {
	if before == "" {
		return at, "", nil
	}
	micros, ticket, _ := strings.Cut(before, "-")
	n, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || n <= 0 || !chat.IsTicketID(ticket) {
		return at, "", chat.Bad("before", "must be the next of the page before")
	}
	return time.UnixMicro(n).UTC(), ticket, nil
}
