package dispatcher

import (
	"context"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// How long one pull stays open, and the pause after one that went wrong.
const (
	pullWait  = 30 * time.Second
	pullPause = 500 * time.Millisecond
)

// room counts the jobs of one lane that may still be taken.
type room struct{ free chan struct{} }

func newRoom(size int) *room {
	r := &room{free: make(chan struct{}, size)}
	for range size {
		r.free <- struct{}{}
	}
	return r
}

// held returns how many jobs were taken and are not out of the room yet.
func (r *room) held() int { return cap(r.free) - len(r.free) }

// take takes the jobs of one lane until ctx ends. Of an interactive lane it holds as
// many as configured, because each is answered at its own limit however many wait; of
// the others one that waits, besides those that run.
func (d *Dispatcher) take(ctx context.Context, lane chat.Lane) {
	size := d.cfg.Holds[lane]
	if !lane.Interactive() {
		size = 1
	}
	r, s := newRoom(size), &share{lane: lane}
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.free:
			r.free <- struct{}{}
		}
		d.rest(ctx, s, r.held())
		err := d.queue.Pull(ctx, lane, min(len(r.free), queue.PullSize), pullWait, func(j *queue.Job) {
			<-r.free
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
		r.free <- struct{}{}
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
		s.room.free <- struct{}{}
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
