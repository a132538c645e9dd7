package load

import (
	"context"
	"time"

	"sluice/internal/chat"
)

const (
	verifyFor    = 2 * time.Minute      // for all checks, and
	verifyEach   = 5 * time.Millisecond // more for each ticket
	readTries    = 5
	finalTries   = 3
	finalWait    = 2 * time.Second // for a final event that follows its ticket's end
	eventsAtMost = 1_000_000       // read of one session
)

// talk is one session of the run and what its events showed.
type talk struct {
	tenant int
	id     string
	jobs   []*job

	byTicket map[string]*job
	finals   map[string]int // ticket → final events
	seq      uint64         // of the last event
	gaps     int            // places where seq did not grow by one
	differ   int            // final events that tell another status than the ticket
	unread   bool           // the events could not be read, or not to the end
	lastFail string
}

// verify looks at everything again once the burst is over: at what had not ended, at
// every end for a second time, and at every session's events.
func (r *run) verify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, verifyFor+time.Duration(len(r.jobs))*verifyEach)
	defer cancel()
	each(ctx, reads, r.jobs, func(j *job) {
		if j.state == accepted {
			got, err := r.readAgain(ctx, j)
			r.learn(j, got, err)
		}
	})
	r.talks = talksOf(r.jobs)
	each(ctx, reads, r.talks, func(s *talk) {
		for _, j := range s.jobs {
			if j.state == ended {
				r.compare(ctx, j)
			}
		}
		if s.id != noTalk {
			r.listen(ctx, s)
		}
		r.counts.checked.Add(int64(len(s.jobs)))
	})
}

// noTalk stands for the session of a batch job, which has no events.
const noTalk = ""

// talksOf groups the accepted jobs by session; each of batch stands alone.
func talksOf(jobs []*job) []*talk {
	type name struct {
		tenant int
		id     string
	}
	var all []*talk
	known := map[name]*talk{}
	for _, j := range jobs {
		if j.ticket.Lane == chat.Batch && j.ticket.TicketID != "" {
			all = append(all, &talk{tenant: j.tenant, id: noTalk, jobs: []*job{j}})
			continue
		}
		if j.ticket.SessionID == "" {
			continue
		}
		at := name{j.tenant, j.ticket.SessionID}
		s := known[at]
		if s == nil {
			// What was never begun counts as unread.
			s = &talk{tenant: at.tenant, id: at.id, byTicket: map[string]*job{}, finals: map[string]int{}, unread: true}
			known[at] = s
			all = append(all, s)
		}
		s.jobs = append(s.jobs, j)
		s.byTicket[j.ticket.TicketID] = j
	}
	return all
}

// readAgain reads a ticket without waiting and does not give up at once.
func (r *run) readAgain(ctx context.Context, j *job) (got ticket, err error) {
	for try := range readTries {
		if got, err = r.client.read(ctx, j, 0); err == nil {
			return got, nil
		}
		if isNotFound(err) || !pause(ctx, delay(err, tryAgain<<try)) {
			break
		}
	}
	return got, err
}

// compare reads an end for a second time.
func (r *run) compare(ctx context.Context, j *job) {
	got, err := r.readAgain(ctx, j)
	switch {
	case isNotFound(err):
		j.state, j.lastFail = gone, err.Error()
	case err != nil:
		j.unread, j.lastFail = true, err.Error()
	default:
		j.changed = !j.ticket.sameEnd(&got)
	}
}

// listen reads all events of a session, and waits a little for final events that are not
// there yet.
func (r *run) listen(ctx context.Context, s *talk) {
	if !r.hear(ctx, s, 0) {
		return
	}
	for range finalTries {
		if s.missing() == 0 {
			break
		}
		if !r.hear(ctx, s, finalWait) {
			return
		}
	}
	s.unread = false
}

// hear reads the events after those that were heard, up to the head.
func (r *run) hear(ctx context.Context, s *talk, wait time.Duration) bool {
	for try := 0; s.seq < eventsAtMost; {
		got, err := r.client.events(ctx, s, s.seq, wait)
		if err != nil {
			s.lastFail = err.Error()
			if try++; try == readTries || !pause(ctx, delay(err, tryAgain<<try)) {
				return false
			}
			continue
		}
		before := s.seq
		s.take(got)
		if len(got.Events) == 0 || s.seq >= got.Head || s.seq <= before {
			return true
		}
	}
	return false
}

// take counts final events, and the places where seq does not go on by one.
func (s *talk) take(p page) {
	for _, e := range p.Events {
		if e.Seq != s.seq+1 {
			s.gaps++
		}
		s.seq = e.Seq
		if !e.Status.Ended() {
			continue
		}
		s.finals[e.Ticket]++
		if j := s.byTicket[e.Ticket]; j != nil && j.state == ended && j.ticket.Status != e.Status {
			s.differ++
		}
	}
}

// missing counts the ended tickets whose session was never told so.
func (s *talk) missing() (n int) {
	for id, j := range s.byTicket {
		if j.state == ended && s.finals[id] == 0 {
			n++
		}
	}
	return n
}

// repeated counts the final events beyond the first of each of the run's tickets.
func (s *talk) repeated() (n int) {
	for id := range s.byTicket {
		n += max(s.finals[id]-1, 0)
	}
	return n
}
