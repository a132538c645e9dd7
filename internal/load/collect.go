package load

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// pollFor is how long one long poll waits. Ends are timed by the instance, so a late
// look at one changes no number.
const pollFor = 5 * time.Second

// settle counts one job as done with.
func (r *run) settle() {
	if r.left.Add(-1) == 0 {
		close(r.settled)
	}
}

// collect takes accepted jobs in turn until none is left.
func (r *run) collect(ctx context.Context) {
	for {
		select {
		case j := <-r.open:
			r.follow(ctx, j)
		case <-r.settled:
			return
		case <-ctx.Done():
			return
		}
	}
}

// follow waits a while for the end of a job; one that has not ended goes to the back of
// the queue, so that more tickets than collectors all have their turn.
func (r *run) follow(ctx context.Context, j *job) {
	wait := pollFor
	if j.cancelAfter > 0 {
		wait = j.cancelAfter
	}
	got, err := r.client.read(ctx, j, wait)
	if r.learn(j, got, err) {
		r.settle()
		return
	}
	if err != nil {
		pause(ctx, delay(err, tryAgain))
	} else if j.cancelAfter > 0 {
		j.cancelAfter = 0
		r.callOff(ctx, j)
	}
	r.open <- j
}

// callOff cancels a ticket, once.
func (r *run) callOff(ctx context.Context, j *job) {
	err := r.client.cancel(ctx, j)
	if no, ok := errors.AsType[*refusal](err); ok && no.status == http.StatusConflict {
		j.tooLate = true
	} else if err != nil {
		j.lastFail = err.Error()
	}
}

// learn puts what a read told into the job and reports whether that is its end.
func (r *run) learn(j *job, got ticket, err error) bool {
	if isNotFound(err) {
		j.state, j.lastFail = gone, err.Error()
		r.counts.ended.Add(1)
		return true
	}
	if err != nil {
		j.lastFail = err.Error()
		return false
	}
	session := j.ticket.SessionID
	j.ticket = got
	if got.SessionID == "" {
		j.ticket.SessionID = session
	}
	if !got.Status.Ended() {
		return false
	}
	j.state = ended
	r.counts.ended.Add(1)
	return true
}

func isNotFound(err error) bool {
	no, ok := errors.AsType[*refusal](err)
	return ok && no.status == http.StatusNotFound
}
