package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// How often the open batches are looked at and their spools swept; how long one look may
// take, so that another process that comes to do it finds little left; how many lines of
// one batch go at a time; and how many of its lines may wait in the lane: enough to keep
// it busy, and few enough for the batches of others to come in between.
const (
	feedEvery  = time.Second
	sweepEvery = time.Minute
	feedFor    = 900 * time.Millisecond
	feedStep   = 64
	feedAhead  = 2000
	endWidth   = 16
)

// batches brings the lines of batches into their lane as room permits, cancels what is to
// be cancelled, and notes their ends. Of all processes one does it at a time; two do no
// harm, each step is a compare-and-set. It is safe for concurrent use.
type batches struct {
	queue  *queue.Queue
	intake *Intake
	told   func(context.Context, queue.Batch) error // whoever asked for a batch that has ended; at most once by its id
	log    zerolog.Logger
	rest   zerolog.Logger // for what comes again and again while something is away

	began   time.Time
	uploads chan struct{} // a token for each body that is being read
	woken   chan struct{}
}

func newBatches(d Deps, in *Intake) *batches {
	log := d.Log.With().Str("stage", "batches").Logger()
	told := d.BatchEnded
	if told == nil {
		told = func(context.Context, queue.Batch) error { return nil }
	}
	return &batches{
		queue: d.Queue, intake: in, told: told, log: log,
		rest:  log.Sample(&zerolog.BurstSampler{Burst: 1, Period: 10 * time.Second}),
		began: time.Now(), uploads: make(chan struct{}, uploadsAtOnce), woken: make(chan struct{}, 1),
	}
}

// enter takes a place for a body that is to be read; leave gives it back.
func (f *batches) enter() error {
	if f.intake.draining.Load() {
		return errDraining()
	}
	leave, open := f.intake.door(chat.Batch)
	if !open {
		return errLaneDraining(chat.Batch)
	}
	leave()
	select {
	case f.uploads <- struct{}{}:
		return nil
	default:
		return &chat.Error{
			Kind: chat.Overloaded, Code: codeRateLimited, RetryAfter: 5 * time.Second,
			Detail: fmt.Sprintf("%d batches are being read already; try again after the time in retry_after_ms", uploadsAtOnce),
		}
	}
}

func (f *batches) leave() { <-f.uploads }

// wake has the open batches looked at soon.
func (f *batches) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// run looks after the open batches until ctx ends.
func (f *batches) run(ctx context.Context) {
	ticker := time.NewTicker(feedEvery)
	defer ticker.Stop()
	var swept time.Time
	for ctx.Err() == nil {
		mine, err := f.queue.Duty(ctx, "batches", feedEvery)
		if err == nil && mine {
			err = f.look(ctx)
		}
		if err == nil && mine && time.Since(swept) >= sweepEvery {
			swept = time.Now()
			err = f.sweep(ctx)
		}
		if err != nil && ctx.Err() == nil {
			f.rest.Warn().Err(err).Msg("the open batches cannot be looked after, trying again")
		}
		select {
		case <-ticker.C:
		case <-f.woken:
		case <-ctx.Done():
		}
	}
}

func (f *batches) sweep(ctx context.Context) error {
	since := time.Now().Add(-queue.StaleSpool)
	if f.queue.Alone() && since.Before(f.began) {
		since = f.began // whoever spooled before is dead
	}
	removed, err := f.queue.SweepSpools(ctx, since)
	if removed > 0 {
		f.log.Info().Int("removed", removed).Msg("lines of batches that were never accepted are removed")
	}
	return err
}

// look brings the open batches forward in turns until nothing moves any more. One that
// cannot be does not keep the others from it.
func (f *batches) look(ctx context.Context) error {
	open, err := f.queue.OpenBatches(ctx)
	if err != nil {
		return err
	}
	until := time.Now().Add(feedFor)
	var fault error
	for len(open) > 0 && time.Now().Before(until) {
		var moving []queue.Batch
		for _, b := range open {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			next, moved, err := f.advance(ctx, b)
			switch {
			case errors.Is(err, queue.ErrLost): // somebody else changed it: the next look
			case err != nil:
				fault = err
			case moved:
				moving = append(moving, next)
			}
		}
		open = moving
	}
	if len(open) > 0 {
		f.wake()
	}
	return fault
}

// advance does the next step of one batch, and reports whether there may be another at
// once.
func (f *batches) advance(ctx context.Context, b queue.Batch) (_ queue.Batch, moved bool, err error) {
	now := time.Now().UTC()
	if b.EndedAt == nil && b.Stop == "" && !now.Before(b.Deadline) {
		// All may have ended while nobody looked.
		if b, _, err = f.queue.SettleBatch(ctx, b, now); err != nil || b.EndedAt != nil {
			return b, err == nil, err
		}
		if b, err = f.queue.StopBatch(ctx, b.ID, chat.ReasonOverdue, now); err != nil {
			return b, false, unlessEnded(err)
		}
		f.log.Info().Str("batch", b.ID).Str("tenant", b.Tenant).Msg("the batch has expired")
	}
	step := f.feed
	if b.Stop != "" {
		step = f.end
	}
	if b.EndedAt == nil {
		if b, moved, err = step(ctx, b); err != nil {
			return b, false, err
		}
		if b, _, err = f.queue.SettleBatch(ctx, b, now); err != nil {
			return b, false, err
		}
	}
	if b.EndedAt == nil {
		return b, moved, nil
	}
	if err := f.queue.FinishBatch(ctx, b, f.told); err != nil {
		return b, false, err
	}
	f.log.Info().Str("batch", b.ID).Str("tenant", b.Tenant).Str("status", string(b.Status())).Int("total", b.Total).
		Int64("age_ms", b.EndedAt.Sub(b.CreatedAt).Milliseconds()).Msg("the batch has ended")
	return b, false, nil
}

func unlessEnded(err error) error {
	if errors.Is(err, queue.ErrEnded) {
		return nil
	}
	return err
}

// feed gives the next lines their tickets, if the lane is open and has room.
func (f *batches) feed(ctx context.Context, b queue.Batch) (_ queue.Batch, moved bool, err error) {
	if b.Cursor >= b.Total || f.intake.draining.Load() {
		return b, false, nil
	}
	counts, err := f.queue.CountLines(ctx, b)
	if err != nil {
		return b, false, err
	}
	room := feedAhead - (b.Cursor - counts.Ended())
	if room < 1 {
		return b, false, nil
	}
	leave, open := f.intake.door(chat.Batch)
	if !open {
		return b, false, nil
	}
	defer leave()
	part, err := f.queue.PartAfter(ctx, b)
	if errors.Is(err, queue.ErrNotFound) {
		f.log.Error().Str("batch", b.ID).Int("after", b.Cursor).Msg("lines of a batch are gone, it is stopped")
		b, err = f.queue.StopBatch(ctx, b.ID, chat.ReasonError, time.Now().UTC())
		return b, true, unlessEnded(err)
	}
	if err != nil {
		return b, false, err
	}
	lines := part.Lines[b.Cursor+1-part.First:]
	lines = lines[:min(len(lines), room, feedStep)]
	fed, fault := 0, error(nil)
	for ; fed < len(lines) && fault == nil; fed++ {
		if fault = f.feedLine(ctx, b, b.Cursor+1+fed, lines[fed]); fault != nil {
			break
		}
	}
	if fed > 0 {
		b, err = f.moveTo(ctx, b, b.Cursor+fed)
	}
	if kept := (*chat.Error)(nil); errors.As(fault, &kept) || errors.Is(fault, queue.ErrFull) || errors.Is(fault, queue.ErrStorage) {
		f.rest.Info().Err(fault).Str("batch", b.ID).Str("tenant", b.Tenant).Msg("no more lines come in now")
		fault = nil
		moved = false
	} else {
		moved = fed > 0
	}
	return b, moved, errors.Join(fault, err)
}

// moveTo notes that lines have their tickets. Once all do, the spool is not needed any more.
func (f *batches) moveTo(ctx context.Context, b queue.Batch, cursor int) (queue.Batch, error) {
	b, err := f.queue.MoveCursor(ctx, b, cursor)
	if err == nil && b.Cursor >= b.Total {
		err = f.queue.DropBatch(ctx, b.Spool)
	}
	return b, err
}

// feedLine makes the ticket of a line and puts it into its lane: both once, however often
// it is called. A line counts for its tenant's day, and waits for no other limit.
func (f *batches) feedLine(ctx context.Context, b queue.Batch, line int, body []byte) error {
	t, err := f.ticket(b, line, body)
	if err != nil {
		return err
	}
	undo := func() {}
	if f.intake.gate != nil {
		a := chat.Arrival{Tenant: t.Tenant, Lane: t.Lane, Bytes: len(t.Message), Fed: true}
		if undo, err = f.intake.gate.Enter(ctx, a); err != nil {
			return err
		}
	}
	_, dup, err := f.queue.Accept(ctx, t, queue.Claim{})
	if dup || errors.Is(err, queue.ErrFull) || errors.Is(err, queue.ErrStorage) {
		undo()
	}
	return err
}

func (f *batches) ticket(b queue.Batch, line int, body []byte) (chat.Ticket, error) {
	var item BatchItem
	if err := json.Unmarshal(body, &item); err != nil {
		return chat.Ticket{}, fmt.Errorf("decode line %d of batch %s: %w", line, b.ID, err)
	}
	return f.intake.lineTicket(b, line, &item), nil
}

// end cancels the next lines of a batch that was stopped: those that have tickets first.
func (f *batches) end(ctx context.Context, b queue.Batch) (_ queue.Batch, moved bool, err error) {
	open, err := f.queue.OpenLines(ctx, b, 4*feedStep)
	if err != nil {
		return b, false, err
	}
	var all []chat.Ticket
	for _, line := range open {
		all = append(all, chat.Ticket{ID: chat.LineTicketID(b.ID, line), Tenant: b.Tenant, Batch: b.ID, Line: line})
	}
	fresh := 0
	if b.Cursor < b.Total && len(all) == 0 {
		if all, err = f.unfed(ctx, b); err != nil {
			return b, false, err
		}
		fresh = len(all)
	}
	if err := f.endAll(ctx, b, all); err != nil {
		return b, false, err
	}
	if fresh > 0 {
		b, err = f.moveTo(ctx, b, b.Cursor+fresh)
		return b, true, err
	}
	if len(open) == 0 {
		return b, false, nil
	}
	left, err := f.queue.OpenLines(ctx, b, 1)
	return b, len(left) == 0 || left[0] != open[0], err
}

// unfed returns the next lines that have no tickets, as those look that are cancelled. Of
// lines that are gone only the place is known.
func (f *batches) unfed(ctx context.Context, b queue.Batch) (all []chat.Ticket, err error) {
	part, err := f.queue.PartAfter(ctx, b)
	gone := errors.Is(err, queue.ErrNotFound)
	if err != nil && !gone {
		return nil, err
	}
	for line := b.Cursor + 1; line <= min(b.Total, b.Cursor+4*feedStep); line++ {
		body := []byte(`{}`)
		if !gone {
			if line >= part.First+len(part.Lines) {
				break
			}
			body = part.Lines[line-part.First]
		}
		var item BatchItem
		if err := json.Unmarshal(body, &item); err != nil {
			return nil, fmt.Errorf("decode line %d of batch %s: %w", line, b.ID, err)
		}
		all = append(all, item.label(b, line))
	}
	return all, nil
}

func (f *batches) endAll(ctx context.Context, b queue.Batch, all []chat.Ticket) error {
	at := time.Now().UTC()
	faults := make([]error, min(endWidth, len(all)))
	var work sync.WaitGroup
	for k := range faults {
		work.Go(func() {
			for i := k; i < len(all) && faults[k] == nil; i += endWidth {
				faults[k] = f.queue.CancelLine(ctx, all[i], b.Stop, at)
			}
		})
	}
	work.Wait()
	return errors.Join(faults...)
}

// callOff ends what is open of a batch that was stopped, for at most so long; whoever
// looks after batches does the rest. What meets another writer, or runs and ends by itself,
// is looked at again.
func (f *batches) callOff(ctx context.Context, b queue.Batch, most time.Duration) queue.Batch {
	defer f.wake()
	tick := time.NewTicker(endEvery)
	defer tick.Stop()
	for until := time.Now().Add(most); b.EndedAt == nil && time.Now().Before(until); {
		next, moved, err := f.advance(ctx, b)
		if err == nil && moved {
			b = next
			continue
		}
		if err == nil && next.EndedAt != nil {
			return next
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return b
		}
		if next, err = f.queue.Batch(ctx, b.ID); err == nil {
			b = next
		}
	}
	return b
}
