package api

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// story tells what happened to a ticket, in order, from all that keeps something of it, and
// whether its customer has read its end. It holds no words of anybody.
func (a *API) story(ctx context.Context, t *chat.Ticket) (story []chat.Step, read bool, err error) {
	story = t.Story()
	told, read, err := a.toldSteps(ctx, t)
	if err != nil {
		return nil, false, err
	}
	story = append(story, told...)
	for _, more := range []func(context.Context, *chat.Ticket) ([]chat.Step, error){a.noticeSteps, a.hookSteps, a.requeueSteps} {
		steps, err := more(ctx, t)
		if err != nil {
			return nil, false, unavailable(err)
		}
		story = append(story, steps...)
	}
	if t.Dead && t.EndedAt != nil {
		story = append(story, chat.Step{At: *t.EndedAt, What: "dead letter"})
	}
	slices.SortStableFunc(story, func(a, b chat.Step) int { return a.At.Compare(b.At) })
	return story, read, nil
}

// toldSteps are what the ticket's session was told besides its message and its end.
func (a *API) toldSteps(ctx context.Context, t *chat.Ticket) (steps []chat.Step, read bool, err error) {
	events, err := a.ticketEvents(ctx, t)
	if err != nil {
		return nil, false, err
	}
	rec, err := a.deps.Queue.Session(ctx, t.Tenant, t.Session)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return nil, false, unavailable(err)
	}
	for _, e := range events {
		step := chat.Step{At: e.At}
		switch {
		case e.Promise != nil:
			step.What, step.Outcome, step.Why = "promise", string(e.Promise.Status), string(e.Reason)
		case e.Rating != nil:
			step.What, step.Outcome = "rated", strconv.Itoa(e.Rating.Score)
		case e.Owner != "":
			step.What, step.Outcome = "owner", string(e.Owner)
		case e.Ticket == t.ID && e.Status.Ended():
			read = rec.Read >= e.Seq
			continue
		default:
			continue // the ticket itself tells of it
		}
		steps = append(steps, step)
	}
	return steps, read, nil
}

// ticketEvents returns what the talk log has of a ticket and of the one that follows it up;
// where it has forgotten them, the history.
func (a *API) ticketEvents(ctx context.Context, t *chat.Ticket) ([]chat.Event, error) {
	events, err := a.deps.Queue.TicketEvents(ctx, t)
	if err != nil {
		return nil, unavailable(err)
	}
	if len(events) > 0 || t.Seq == 0 || a.deps.History == nil {
		return events, nil
	}
	ctx, cancel := context.WithTimeout(ctx, historyLimit)
	defer cancel()
	old, err := a.deps.History.Events(ctx, t.Tenant, t.Session, t.Seq-1, 500)
	if err != nil {
		return nil, errHistory(err)
	}
	return slices.DeleteFunc(old, func(e chat.Event) bool { return e.Ticket != t.ID && (t.FollowUp == "" || e.Ticket != t.FollowUp) }), nil
}

// noticeSteps are what became of the text message about a ticket.
func (a *API) noticeSteps(ctx context.Context, t *chat.Ticket) ([]chat.Step, error) {
	id := t.FollowUp
	if t.Parent != "" {
		id = t.ID
	}
	if id == "" {
		return nil, nil
	}
	n, err := a.deps.Queue.Notice(ctx, id)
	if errors.Is(err, queue.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	steps := []chat.Step{{At: n.At, What: "notice", Outcome: string(chat.NoticeQueued)}}
	for _, r := range n.Receipts {
		steps = append(steps, chat.Step{At: r.At, What: "receipt", Outcome: r.Status, Why: r.Code})
	}
	if n.State != "" && n.State != chat.NoticeQueued {
		steps = append(steps, chat.Step{
			At: n.Since, What: "notice", Outcome: string(n.State), Attempt: n.Tries, Vendor: n.Provider, Why: n.Fault,
		})
	}
	return steps, nil
}

// hookSteps are what became of the messages about a ticket to its tenant's server.
func (a *API) hookSteps(ctx context.Context, t *chat.Ticket) (steps []chat.Step, err error) {
	for _, kind := range []chat.HookType{chat.HookHandoff, chat.HookAnswered, chat.HookFailed, chat.HookCancelled} {
		h, err := a.deps.Queue.Hook(ctx, chat.HookID(kind, t.ID))
		if errors.Is(err, queue.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		at := latest(h.At, h.DoneAt)
		if h.State == chat.HookWaiting {
			at = latest(h.At, h.Since)
		}
		steps = append(steps, chat.Step{At: at, What: "webhook", Outcome: string(h.State), Attempt: h.Tries, Why: h.Fault})
	}
	return steps, nil
}

// requeueSteps name the ticket that this one was requeued as.
func (a *API) requeueSteps(ctx context.Context, t *chat.Ticket) ([]chat.Step, error) {
	if !t.Status.Ended() {
		return nil, nil
	}
	next, err := a.deps.Queue.Requeued(ctx, t.ID)
	if errors.Is(err, queue.ErrNotFound) {
		return nil, nil
	}
	return []chat.Step{{At: next.AcceptedAt, What: "requeued", Ticket: next.ID}}, err
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
