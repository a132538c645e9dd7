package dispatcher

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice/internal/queue"
)

// Why the work on a job was stopped.
var (
	errCancelled = errors.New("the ticket was cancelled")
	errStopping  = errors.New("the dispatcher stops")
	errOverdue   = errors.New("max_wait has passed")
	errLevel     = errors.New("the load level has changed")
)

// job is one lane message that this dispatcher looks after.
type job struct {
	*queue.Job
	cancel  context.CancelCauseFunc
	waiting bool // guarded by held.mu: no vendor works on it
}

// held is the set of jobs in hand, by ticket.
type held struct {
	mu   sync.Mutex
	jobs map[string]*job
}

func newHeld() *held { return &held{jobs: map[string]*job{}} }

// add reports false if the ticket is held already: its lane delivered it again because
// our signs of life came too late.
func (h *held) add(j *job) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, twice := h.jobs[j.Ticket.ID]; twice {
		return false
	}
	h.jobs[j.Ticket.ID] = j
	return true
}

func (h *held) remove(j *job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.jobs, j.Ticket.ID)
}

func (h *held) setWaiting(j *job, waiting bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	j.waiting = waiting
}

func (h *held) cancel(ticket string, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j, found := h.jobs[ticket]; found {
		j.cancel(cause)
	}
}

func (h *held) cancelWaiting(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, j := range h.jobs {
		if j.waiting {
			j.cancel(cause)
		}
	}
}

func (h *held) cancelAll(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, j := range h.jobs {
		j.cancel(cause)
	}
}

func (h *held) all() []*job {
	h.mu.Lock()
	defer h.mu.Unlock()
	jobs := make([]*job, 0, len(h.jobs))
	for _, j := range h.jobs {
		jobs = append(jobs, j)
	}
	return jobs
}

// beat gives a sign of life for every job held, so that no lane hands it to another.
func (d *Dispatcher) beat(ctx context.Context) {
	ticker := time.NewTicker(queue.Heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, j := range d.held.all() {
			if err := j.Working(); err != nil {
				d.log.Warn().Err(err).Str("ticket", j.Ticket.ID).Msg("sign of life was not sent")
			}
		}
	}
}
