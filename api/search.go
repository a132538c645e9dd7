package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// How many searches may look into the engine at once, and how long one waits for the history.
const (
	searchesAtOnce = 2
	historyLimit   = 5 * time.Second
)

// search walks the tickets that a filter takes, newest first: what the engine knows and the
// history does not have yet, and what the history has. A ticket comes once, and as the
// engine has it where both do. It is for one goroutine.
type search struct {
	a      *API
	filter chat.TicketFilter
	deep   bool              // it looks at all that the engine has, however long that takes
	at     chat.TicketMark   // of the last one that was given; zero: none was
	open   []chat.TicketMark // of the engine's, those after it
	cut    bool              // the engine has more than anybody looked at
	away   error             // why the history cannot be asked, or nil
}

// search begins behind a mark; zero: with the newest.
func (a *API) search(ctx context.Context, f chat.TicketFilter, after chat.TicketMark) (*search, error) {
	return a.begin(ctx, &search{a: a, filter: f, at: after})
}

// deepSearch is a search that misses nothing: partial only while the history is away.
func (a *API) deepSearch(ctx context.Context, f chat.TicketFilter, after chat.TicketMark) (*search, error) {
	return a.begin(ctx, &search{a: a, filter: f, at: after, deep: true})
}

func (a *API) begin(ctx context.Context, s *search) (*search, error) {
	if a.deps.History == nil && s.filter.Ended() {
		s.away = errNoHistory
	}
	return s, s.look(ctx)
}

var errNoHistory = errors.New("this process has no history")

// look asks the engine; before the history, so that a ticket which moves there is met.
func (s *search) look(ctx context.Context) error {
	select {
	case s.a.looks <- struct{}{}:
		defer func() { <-s.a.looks }()
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
	known, err := s.a.deps.Queue.Known(ctx, s.filter, s.away != nil, s.deep)
	if err != nil {
		return unavailable(err)
	}
	s.open, s.cut = known.Marks, known.Cut
	s.pass(s.at)
	return nil
}

// pass leaves behind what is not after a mark.
func (s *search) pass(at chat.TicketMark) {
	if s.at = at; at.IsZero() {
		return
	}
	i, _ := slices.BinarySearchFunc(s.open, at, chat.TicketMark.Compare)
	for i < len(s.open) && s.open[i].Compare(at) <= 0 {
		i++
	}
	s.open = s.open[i:]
}

// partial reports whether there may be tickets that the search does not find.
func (s *search) partial() bool { return s.cut || s.away != nil }

// next returns the next n tickets; fewer are the last ones. Where the history is away it goes
// on with what the engine knows.
func (s *search) next(ctx context.Context, n int) ([]chat.Ticket, error) {
	past, err := s.past(ctx, n)
	if err != nil {
		return nil, err
	}
	found, _, err := s.a.deps.Queue.ReadMarks(ctx, s.filter, s.open, n)
	if err != nil {
		return nil, unavailable(err)
	}
	known := map[string]bool{}
	for i := range found {
		known[found[i].ID] = true
	}
	for _, t := range past {
		if !known[t.ID] {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b chat.Ticket) int { return chat.MarkOf(&a).Compare(chat.MarkOf(&b)) })
	found = found[:min(n, len(found))]
	if len(found) > 0 {
		s.pass(chat.MarkOf(&found[len(found)-1]))
	}
	return found, nil
}

// past returns what the history has next.
func (s *search) past(ctx context.Context, n int) ([]chat.Ticket, error) {
	if !s.filter.Ended() || s.away != nil {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, historyLimit)
	defer cancel()
	rows, err := s.a.deps.History.Search(limited, s.filter, s.at, n)
	if err != nil {
		if ctx.Err() != nil {
			return nil, unavailable(ctx.Err())
		}
		s.away = err
		return nil, s.look(ctx) // for what the history would have known
	}
	past := make([]chat.Ticket, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row, &past[i]); err != nil {
			return nil, err
		}
	}
	return past, nil
}

// anyTicket reads a ticket, whosever it is: from the engine, and what that keeps no more from
// history.
func (a *API) anyTicket(ctx context.Context, id string) (t chat.Ticket, err error) {
	t, err = a.deps.Queue.TicketOrStory(ctx, id)
	switch {
	case err == nil:
		return t, nil
	case !errors.Is(err, queue.ErrNotFound):
		return t, unavailable(err)
	case a.deps.History == nil:
		return t, errHistory(errNoHistory)
	}
	ctx, cancel := context.WithTimeout(ctx, historyLimit)
	defer cancel()
	raw, err := a.deps.History.TicketOf(ctx, id)
	if errors.Is(err, queue.ErrNotFound) {
		return t, notFound("ticket")
	}
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	if err != nil {
		return t, errHistory(err)
	}
	return t, nil
}

// countBlock is how many marks of the history are counted together.
const countBlock = 10_000

// count counts the tickets that a filter takes. Where there are more than a bulk action may
// have, it refuses.
func (a *API) count(ctx context.Context, f chat.TicketFilter) (int, error) {
	s, err := a.deepSearch(ctx, f, chat.TicketMark{})
	if err != nil {
		return 0, err
	}
	known := map[string]bool{}
	if f.Status != "" && !f.Status.Ended() {
		found, _, err := a.deps.Queue.ReadMarks(ctx, f, s.open, maxBulk+1)
		if err != nil {
			return 0, unavailable(err)
		}
		for i := range found {
			known[found[i].ID] = true
		}
	} else {
		for _, m := range s.open {
			known[m.ID] = true
		}
	}
	n := len(known)
	for more := f.Ended(); more && n <= maxBulk; {
		if s.away != nil {
			return 0, errHistory(s.away)
		}
		marks, err := a.deps.History.Marks(ctx, f, s.at, countBlock)
		if err != nil {
			return 0, errHistory(err)
		}
		for _, m := range marks {
			if !known[m.ID] {
				n++
			}
			s.at = m
		}
		more = len(marks) == countBlock
	}
	if n > maxBulk {
		return 0, chat.Bad("filter", "takes more than %d tickets: narrow it", maxBulk)
	}
	return n, nil
}
