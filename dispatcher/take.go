package dispatcher

import (
	"context"
	"sync/atomic"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// How long one pull stays open, which is how long a stop may take before anything is handed
// back, and the pause after one that went wrong.
const (
	pullWait  = 1 * time.Second
	pullPause = 500 * time.Millisecond
)

// room counts the jobs of one lane in hand. It is safe for concurrent use.
type room struct {
	size  func() int // by the rules in force
	held  atomic.Int64
	freed chan struct{} // somebody left
}

func newRoom(size func() int) *room { return &room{size: size, freed: make(chan struct{}, 1)} }

func (r *room) free() int { return r.size() - int(r.held.Load()) }

func (r *room) leave() {
	r.held.Add(-1)
	select {
	case r.freed <- struct{}{}:
	default:
	}
}

// roomEvery is how soon a full room notices that new rules have made it larger.
const roomEvery = time.Second

// await waits until there is a place or ctx ends.
func (r *room) await(ctx context.Context) {
	for r.free() < 1 && ctx.Err() == nil {
		timer := time.NewTimer(roomEvery)
		select {
		case <-ctx.Done():
		case <-r.freed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// take takes the jobs of one lane until ctx ends. Of an interactive lane it holds as
// many as configured, because each is answered at its own limit however many wait; of
// the others one that waits, besides those that run.
func (d *Dispatcher) take(ctx context.Context, lane chat.Lane) {
	r := newRoom(func() int {
		if !lane.Interactive() {
			return 1
		}
		return d.cfg.Rules().Holds[lane]
	})
	s := &share{lane: lane}
	for r.await(ctx); ctx.Err() == nil; r.await(ctx) {
		d.rest(ctx, s, int(r.held.Load()))
		size := min(r.free(), queue.PullSize)
		if size < 1 {
			continue // the rules have made the room smaller
		}
		err := d.queue.Pull(ctx, lane, size, pullWait, func(j *queue.Job) {
			r.held.Add(1)
			d.hold(ctx, j, r)
		})
		if err != nil && ctx.Err() == nil {
			d.log.Warn().Err(err).Str("lane", string(lane)).Msg("pull from the lane, trying again")
			wait(ctx, pullPause)
		}
	}
}

// hold begins to look after a job. Its goroutine is owned by d.jobs.
func (d *Dispatcher) hold(ctx context.Context, taken *queue.Job, r *room) {
	// A stop of the dispatcher reaches a job through held, so that running ones may end.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	j := &job{Job: taken, cancel: cancel, waiting: true}
	if !d.held.add(j) {
		// The same holder twice: the one at work goes on, and the lane must not think
		// the job abandoned.
		_ = j.Working()
		cancel(nil)
		r.leave()
		return
	}
	d.jobs.Go(func() {
		seat := &seat{room: r, early: !taken.Ticket.Lane.Interactive()}
		defer seat.leave()
		defer d.held.remove(j)
		defer cancel(nil)
		d.tend(ctx, j, seat)
	})
}

// seat is a job's place in its lane's room. Of a lane where nobody waits it is given
// up when the job begins to run.
type seat struct {
	room  *room
	early bool
	left  bool
}

func (s *seat) running() {
	if s.early {
		s.leave()
	}
}

func (s *seat) leave() {
	if !s.left {
		s.left = true
		s.room.leave()
	}
}

// wait waits on a timer or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
