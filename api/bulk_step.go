package api

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// came is what came of one ticket of a step.
type came struct {
	done  bool
	code  string // why it failed, or is left for later
	later bool
}

// do works on the tickets in hand, several at a time, and counts what came of them. Those for
// which there is no room now stay in the step.
func (j *bulkJob) do(ctx context.Context) {
	var (
		work  sync.WaitGroup
		all   = make([]came, len(j.Step))
		turns = make(chan int)
		act   = j.cancel
	)
	if j.Action == queue.BulkRequeue {
		act = j.requeue(j.room(ctx))
	}
	for range min(bulkWidth, len(j.Step)) {
		work.Go(func() {
			for i := range turns {
				all[i] = act(ctx, j.Step[i])
			}
		})
	}
	for i := range j.Step {
		turns <- i
	}
	close(turns)
	work.Wait()
	if ctx.Err() != nil {
		return // nothing is counted: whoever goes on does the step once more
	}
	j.anew = false
	var rest []string
	for i, id := range j.Step {
		switch c := all[i]; {
		case c.later:
			rest = append(rest, id)
			j.wait(c.code)
		case c.done:
			j.Done++
		case c.code != "":
			j.Fail(id, c.code)
		default:
			j.Skipped++
		}
	}
	if len(rest) < len(j.Step) {
		j.Since = time.Now().UTC() // it moves
	}
	if j.Step = rest; len(rest) == 0 {
		j.goOn()
	}
	if j.Stop {
		j.Step = nil // what there is no room for is not waited for
	}
}

// room says which lanes take what is requeued: those of which half is free, so that customers
// still find room.
func (j *bulkJob) room(ctx context.Context) func(chat.Lane) bool {
	free := map[chat.Lane]bool{}
	for _, lane := range chat.Lanes() {
		f, err := j.a.deps.Queue.Fill(ctx, lane)
		free[lane] = err == nil && f.Depth+bulkStep <= max(f.Bound/2, bulkStep)
	}
	return func(lane chat.Lane) bool { return free[lane] }
}

// requeue asks a ticket's question again. One that was requeued before is left as it is; in a
// step that is done once more it counts as done if that was since the action began.
func (j *bulkJob) requeue(room func(chat.Lane) bool) func(context.Context, string) came {
	return func(ctx context.Context, id string) came {
		t, found := j.hand[id]
		if !found {
			var err error
			if t, err = j.a.anyTicket(ctx, id); err != nil {
				return outcomeOf(err)
			}
		}
		if !t.Status.Ended() {
			return came{}
		}
		if !room(t.Lane) {
			return came{later: true, code: codeQueueFull}
		}
		next, dup, err := j.a.intake.requeueEnded(ctx, t)
		if err != nil {
			return outcomeOf(err)
		}
		return came{done: !dup || j.ours(next.AcceptedAt)}
	}
}

// ours reports whether what was done at a time was most likely done by this action, in a
// process that died. Nothing but the time tells it from what another operator did meanwhile.
func (j *bulkJob) ours(at time.Time) bool { return j.anew && !at.Before(j.At) }

// cancel cancels a ticket. One that an operator had cancelled is left as it is, with the same
// exception.
func (j *bulkJob) cancel(ctx context.Context, id string) came {
	t, err := j.a.deps.Queue.Cancel(ctx, id, chat.ReasonOperator, time.Now().UTC())
	switch {
	case err == nil:
		return came{done: true}
	case errors.Is(err, queue.ErrEnded):
		ours := t.Status == chat.Cancelled && t.Reason == chat.ReasonOperator && t.EndedAt != nil && j.ours(*t.EndedAt)
		return came{done: ours}
	case errors.Is(err, queue.ErrNotFound):
		return came{}
	case errors.Is(err, queue.ErrInEffect):
		return came{code: codeInEffect}
	}
	return came{later: true, code: codeUnavailable}
}

// outcomeOf tells what will pass from what will not.
func outcomeOf(err error) came {
	var said *chat.Error
	if !errors.As(err, &said) {
		return came{code: codeInternal}
	}
	switch said.Kind {
	case chat.NotFound:
		return came{}
	case chat.Overloaded, chat.Transient:
		return came{later: true, code: said.Code}
	}
	return came{code: said.Code}
}
