package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sluice/internal/chat"
)

// ReadMarks reads the tickets of marks as they stand now, those that the filter takes, in their
// order, until there are n. next is the first mark that nobody has looked at.
func (q *Queue) ReadMarks(ctx context.Context, f chat.TicketFilter, marks []chat.TicketMark, n int) (found []chat.Ticket, next int, err error) {
	for next < len(marks) && len(found) < n {
		part := marks[next:min(len(marks), next+max(searchWidth, n-len(found)))]
		tickets, err := q.readAll(ctx, part)
		if err != nil {
			return nil, 0, err
		}
		for _, t := range tickets {
			if len(found) == n {
				return found, next, nil
			}
			next++
			if t != nil && f.Takes(t) {
				found = append(found, *t)
			}
		}
	}
	return found, next, nil
}

// readAll reads tickets, several at a time; nil: the engine has it no more.
func (q *Queue) readAll(ctx context.Context, marks []chat.TicketMark) ([]*chat.Ticket, error) {
	var (
		work   sync.WaitGroup
		found  = make([]*chat.Ticket, len(marks))
		faults = make([]error, len(marks))
		turns  = make(chan int)
	)
	for range min(searchWidth, len(marks)) {
		work.Go(func() {
			for i := range turns {
				t, err := q.TicketOrStory(ctx, marks[i].ID)
				switch {
				case err == nil:
					found[i] = &t
				case !errors.Is(err, ErrNotFound):
					faults[i] = err
				}
			}
		})
	}
	for i := range marks {
		turns <- i
	}
	close(turns)
	work.Wait()
	return found, errors.Join(faults...)
}

// TicketOrStory reads a ticket as it stands, or where its bucket has it no more, as its story
// was told. ErrNotFound: the engine has neither.
func (q *Queue) TicketOrStory(ctx context.Context, id string) (chat.Ticket, error) {
	s, err := q.Ticket(ctx, id)
	if err == nil || !errors.Is(err, ErrNotFound) {
		return s.Ticket, err
	}
	told, err := q.told(ctx, "*", id)
	if err != nil {
		return chat.Ticket{}, err
	}
	if told == nil {
		return chat.Ticket{}, fmt.Errorf("ticket %s: %w", id, ErrNotFound)
	}
	return *told, nil
}

// maxTicketEvents bounds how many events of one ticket are read.
const maxTicketEvents = 100

// TicketEvents returns the events of a ticket and of the one that follows it up, in the order
// of the log, at most 100 of each. A line of a batch has none.
func (q *Queue) TicketEvents(ctx context.Context, t *chat.Ticket) ([]chat.Event, error) {
	begin := uint64(1)
	if t.Seq > 0 {
		rec, err := q.Session(ctx, t.Tenant, t.Session)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		begin = rec.from(t.Seq - 1)
	}
	var all []chat.Event
	for _, id := range []string{t.ID, t.FollowUp} {
		if id == "" || t.Batch != "" {
			continue
		}
		filter := "talk." + t.Tenant + "." + t.Session + "." + id + ".*"
		_, end, err := q.last(ctx, filter)
		if err != nil {
			return nil, err
		}
		n := 0
		err = q.scan(ctx, filter, begin, end, func(e chat.Event) bool {
			all = append(all, e)
			n++
			return n < maxTicketEvents
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b chat.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return all, nil
}
