package load

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"sluice/internal/chat"
)

const lostSample = 20

// report sums the run up. All goroutines of the run have ended.
func (r *run) report() *Report {
	out := &Report{
		Scenario: "burst", Run: r.name, Target: r.target.BaseURL, Interrupted: r.interrupted,
		StartedAt: r.startedAt.UTC(), EndedAt: time.Now().UTC(),
		SentMS:     r.sentAt.Sub(r.startedAt).Milliseconds(),
		AnsweredMS: r.answeredAt.Sub(r.startedAt).Milliseconds(),
		Tickets:    len(r.jobs), Refused: map[string]int{}, Notes: []string{},
		Settings: Settings{
			Tenants: len(r.target.Keys), OverMS: r.cfg.Over.Milliseconds(), MaxWaitMS: r.cfg.MaxWait.Milliseconds(),
			TimeoutMS: r.cfg.Timeout.Milliseconds(), CancelShare: r.cfg.CancelShare,
			Sessions: r.cfg.Sessions, Lanes: r.cfg.Lanes, Seed: r.cfg.Seed,
		},
	}
	if u, err := url.Parse(r.target.BaseURL); err == nil {
		out.Target = u.Host
	}
	r.countJobs(out)
	r.countTalks(out)
	r.measure(out)
	r.countVendors(out)
	out.Series = r.series()
	r.note(out)
	out.Verdict = Verdict{OK: out.OK(), Reasons: append([]string{}, out.faults()...)}
	return out
}

// countJobs counts what became of every message.
func (r *run) countJobs(out *Report) {
	owner := map[string]bool{}
	for _, j := range r.jobs {
		switch j.state {
		case unsent:
			out.Unsent++
			continue
		case refused:
			out.Refused[j.code]++
			if j.bare {
				out.BareRefused++
			}
			continue
		}
		out.Accepted++
		if owner[j.ticket.TicketID] {
			out.Merged++
		}
		owner[j.ticket.TicketID] = true
		if j.changed {
			out.Duplicates++
		}
		if j.unread && !r.interrupted {
			out.Unread++
		}
		if j.tooLate {
			out.CancelLate++
		}
		out.countEnd(j, r.interrupted)
	}
	out.Routes = r.routes()
}

// countEnd counts one accepted job by its end, or as lost for want of one.
func (r *Report) countEnd(j *job, interrupted bool) {
	why := "not found"
	switch {
	case j.state == ended && j.ticket.Status == chat.Answered:
		r.Answered++
		return
	case j.state == ended && j.ticket.Status == chat.Failed:
		r.Failed++
		return
	case j.state == ended:
		r.Cancelled++
		return
	case j.state == accepted && interrupted:
		r.Open++
		return
	case j.state == accepted:
		why = "not ended in time"
	}
	r.Lost++
	if len(r.LostSample) < lostSample {
		r.LostSample = append(r.LostSample, Lost{
			Ticket: j.ticket.TicketID, Session: j.ticket.SessionID, Lane: j.ticket.Lane, Status: j.ticket.Status, Why: why,
		})
	}
}

// answered calls do for every answered job.
func (r *run) answered(do func(*job)) {
	for _, j := range r.jobs {
		if j.state == ended && j.ticket.Status == chat.Answered {
			do(j)
		}
	}
}

func (r *run) routes() []RouteCount {
	counts := map[RouteCount]int{}
	r.answered(func(j *job) { counts[RouteCount{Route: j.ticket.Route, Reason: j.ticket.Reason}]++ })
	order := []chat.Route{chat.RouteAgent, chat.RouteRAG, chat.RouteFAQ, chat.RouteTemplate}
	place := func(route chat.Route) int {
		if i := slices.Index(order, route); i >= 0 {
			return i
		}
		return len(order)
	}
	all := slices.SortedFunc(maps.Keys(counts), func(a, b RouteCount) int {
		return cmp.Or(cmp.Compare(place(a.Route), place(b.Route)), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Reason, b.Reason))
	})
	for i := range all {
		all[i].Count = counts[all[i]]
	}
	return all
}

func (r *run) countTalks(out *Report) {
	for _, s := range r.talks {
		out.Duplicates += s.repeated()
		out.Gaps += s.gaps
		if s.id == noTalk {
			continue
		}
		if s.unread {
			if !r.interrupted {
				out.Unread++
			}
			continue
		}
		out.Untold += s.missing() + s.differ
	}
}

// measure fills in the times.
func (r *run) measure(out *Report) {
	type samples struct{ wait, handled, total []int64 }
	byLane := map[string]*samples{}
	add := func(lane string, t *ticket) {
		s := byLane[lane]
		if s == nil {
			s = &samples{}
			byLane[lane] = s
		}
		if t.QueuedMS != nil {
			s.wait = append(s.wait, *t.QueuedMS)
		}
		if t.HandledMS != nil {
			s.handled = append(s.handled, *t.HandledMS)
		}
		if t.EndedAt != nil {
			s.total = append(s.total, t.EndedAt.Sub(t.AcceptedAt).Milliseconds())
		}
	}
	r.answered(func(j *job) {
		add("all", &j.ticket)
		add(string(j.ticket.Lane), &j.ticket)
	})
	out.Times = []Times{}
	for _, lane := range append([]chat.Lane{"all"}, chat.Lanes()...) {
		if s := byLane[string(lane)]; s != nil {
			out.Times = append(out.Times, Times{string(lane), spreadOf(s.wait), spreadOf(s.handled), spreadOf(s.total)})
		}
	}
	if all := byLane["all"]; all != nil {
		out.WaitCount = histogramOf(all.wait)
	}
	var took []int64
	for _, j := range r.jobs {
		if j.took > 0 {
			took = append(took, j.took.Milliseconds())
		}
	}
	out.AcceptMS = spreadOf(took)
}

// note tells what a reader of the numbers has to know.
func (r *run) note(out *Report) {
	note := func(is bool, format string, args ...any) {
		if is {
			out.Notes = append(out.Notes, fmt.Sprintf(format, args...))
		}
	}
	note(r.watch == nil, "no control port: what the vendors saw was not measured")
	note(r.watch != nil && r.watch.missed > 0, "%d looks at the simulator went wrong", r.missed())
	for _, v := range out.Vendors {
		note(v.Measured && v.Limit == 0, "vendor %s: no limit given, its calls in flight were not judged", v.Name)
	}
	note(out.BareRefused > 0, "%d refusals for load named no time to try again", out.BareRefused)
	note(out.CancelLate > 0, "%d cancels came after the end or after an effect", out.CancelLate)
	behind := r.sentAt.Sub(r.startedAt) - r.cfg.Over
	note(r.cfg.Over > 0 && behind > r.cfg.Over/10+time.Second, "submissions fell behind: the last came %s late", behind.Round(100*time.Millisecond))
	fails := map[string]bool{}
	for _, j := range r.jobs {
		if j.code == noAnswer && len(fails) < 3 && !fails[j.lastFail] {
			fails[j.lastFail] = true
			note(true, "no answer: %s", j.lastFail)
		}
	}
	unread := slices.IndexFunc(r.talks, func(s *talk) bool { return s.unread && s.lastFail != "" })
	note(unread >= 0 && !r.interrupted, "the first session that could not be read: %s", r.talkFail(unread))
}

func (r *run) missed() int {
	if r.watch == nil {
		return 0
	}
	return r.watch.missed
}

func (r *run) talkFail(i int) string {
	if i < 0 {
		return ""
	}
	return r.talks[i].lastFail
}
