package load

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"sluice/internal/chat"
)

// noAnswer is the code of a message whose submission nobody answered: it may or may not
// have become a ticket.
const noAnswer = "no_answer"

// Report is what became of a run. It is plain data: what Table and HTML show is all here,
// and a report that was read back from its JSON shows the same.
//
// Tickets = Unsent + all Refused + Accepted, and Accepted = Answered + Failed + Cancelled
// + Lost + Open.
type Report struct {
	Scenario    string    `json:"scenario"`
	Run         string    `json:"run"` // in the names of the run's sessions and keys
	Target      string    `json:"target"`
	StartedAt   time.Time `json:"started_at"`
	EndedAt     time.Time `json:"ended_at"`    // after all checks
	SentMS      int64     `json:"sent_ms"`     // the last submission, after the start
	AnsweredMS  int64     `json:"answered_ms"` // the end of waiting for answers, after the start
	Interrupted bool      `json:"interrupted"` // stopped before its end
	Settings    Settings  `json:"settings"`

	Tickets     int            `json:"tickets"`
	Unsent      int            `json:"unsent"` // interrupted before they had an answer
	Accepted    int            `json:"accepted"`
	Refused     map[string]int `json:"refused"`      // by code
	BareRefused int            `json:"bare_refused"` // for load, without Retry-After
	Answered    int            `json:"answered"`
	Routes      []RouteCount   `json:"routes"`
	Failed      int            `json:"failed"`
	Cancelled   int            `json:"cancelled"`
	CancelLate  int            `json:"cancel_late"` // a cancel came too late
	Open        int            `json:"open"`        // not ended when the run was interrupted

	Lost       int    `json:"lost"`       // accepted, and not ended in time or not found
	Duplicates int    `json:"duplicates"` // final events beyond the first, and ends that changed
	Merged     int    `json:"merged"`     // messages that got the ticket of another
	Gaps       int    `json:"gaps"`       // places where a session's seq did not grow by one
	Untold     int    `json:"untold"`     // ended, and the session's events do not say so, or say another end
	Unread     int    `json:"unread"`     // sessions and ends that could not be read in the checks
	LostSample []Lost `json:"lost_sample,omitempty"`

	AcceptMS  Spread       `json:"accept_ms"` // from the message to its 202, as the caller saw it
	Times     []Times      `json:"times"`     // of answered tickets; all lanes first
	WaitCount []Bucket     `json:"wait_histogram"`
	Vendors   []VendorLine `json:"vendors"`
	Capacity  Capacity     `json:"capacity"`
	Series    []Second     `json:"series"`

	Notes   []string `json:"notes"`
	Verdict Verdict  `json:"verdict"`
}

// Settings are what the run was asked to do.
type Settings struct {
	Tenants     int                   `json:"tenants"`
	OverMS      int64                 `json:"over_ms"`
	MaxWaitMS   int64                 `json:"max_wait_ms"` // 0: the lane's own
	TimeoutMS   int64                 `json:"timeout_ms"`
	CancelShare float64               `json:"cancel_share"`
	Sessions    int                   `json:"sessions"` // per tenant; 0: mostly one per ticket
	Lanes       map[chat.Lane]float64 `json:"lanes"`
	Seed        uint64                `json:"seed"`
}

// RouteCount counts the tickets that were answered by one route for one reason; the
// reason is empty for the best route.
type RouteCount struct {
	Route  chat.Route  `json:"route"`
	Reason chat.Reason `json:"reason,omitempty"`
	Count  int         `json:"count"`
}

// Lost is a ticket that was lost; a report names the first of them.
type Lost struct {
	Ticket  string      `json:"ticket"`
	Session string      `json:"session"`
	Lane    chat.Lane   `json:"lane"`
	Status  chat.Status `json:"status"` // as last seen
	Why     string      `json:"why"`
}

// Times are the times of the answered tickets of one lane, by the instance's clock, in
// milliseconds: Wait from acceptance to the route decision (queued_ms), Handled from there
// to the end (handled_ms), Total from acceptance to the end.
type Times struct {
	Lane    string `json:"lane"` // "all": of all lanes
	Wait    Spread `json:"wait_ms"`
	Handled Spread `json:"handled_ms"`
	Total   Spread `json:"total_ms"`
}

// VendorLine is what one vendor saw of the run. Calls may be more than tickets: one answer
// can take several. Without a control port only Limit, Quota and Answered are known.
type VendorLine struct {
	Name        string `json:"name"`
	Limit       int    `json:"limit"`    // permits; 0: not known
	Quota       int    `json:"quota"`    // 0: none, or not known
	Answered    int    `json:"answered"` // tickets
	Measured    bool   `json:"measured"`
	MaxInFlight int    `json:"max_in_flight"`
	Calls       int    `json:"calls"`
	Completed   int    `json:"completed"`
	Refused     int    `json:"refused"` // 429
	Cancelled   int    `json:"cancelled"`
	Errors      int    `json:"errors"` // all other ends

	Use Use `json:"use"`
}

// Use is how much of a number of permits was used in the report's window. Mean is the time
// average of calls in flight, from samples four times a second. Capacity is how many calls
// the permits allow in that time: limit × window ÷ mean duration of a call. Completed calls
// over Capacity is the same as Mean over the limit, and that is Share.
type Use struct {
	Mean      float64 `json:"mean_in_flight"`
	Completed float64 `json:"completed"`
	Capacity  float64 `json:"capacity"`
	Share     float64 `json:"share"`
}

// Capacity is the use of all vendors' permits together. The window is the time in which
// something waited: from the start to the last route decision.
type Capacity struct {
	Measured bool  `json:"measured"`
	WindowMS int64 `json:"window_ms"`
	Limit    int   `json:"limit"`
	Use      Use   `json:"use"`
}

// Second is one second of the run, counted from its start.
type Second struct {
	At        int            `json:"at"`
	Accepted  int            `json:"accepted"`
	Ended     int            `json:"ended"`
	Completed map[string]int `json:"completed,omitempty"` // calls by vendor
	InFlight  map[string]int `json:"in_flight,omitempty"` // the most that a sample saw
}

// Verdict says whether the instance kept its promises, and what it did not keep.
type Verdict struct {
	OK      bool     `json:"ok"`
	Reasons []string `json:"reasons"`
}

// OK reports whether nothing was lost or told twice, every session's events are whole, no
// vendor had more calls in flight than permits (than its quota, where calls were
// cancelled: their permits come back a little before the vendor notices) and none refused
// a call, and the run went to its end.
func (r *Report) OK() bool { return len(r.faults()) == 0 }

func (r *Report) faults() []string {
	var all []string
	bad := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	bad(r.Interrupted, "interrupted: %d not sent, %d not followed to their end, not all was checked", r.Unsent, r.Open)
	bad(r.Accepted == 0, "no ticket was accepted")
	bad(r.Refused[noAnswer] > 0, "submissions without an answer: %d", r.Refused[noAnswer])
	bad(r.Lost > 0, "tickets lost: %d", r.Lost)
	bad(r.Duplicates > 0, "duplicate ends: %d", r.Duplicates)
	bad(r.Merged > 0, "messages that got the ticket of another: %d", r.Merged)
	bad(r.Gaps > 0, "gaps in the sessions' events: %d", r.Gaps)
	bad(r.Untold > 0, "ends not told in their session's events: %d", r.Untold)
	bad(r.Unread > 0, "sessions or ends that the checks could not read: %d", r.Unread)
	for _, v := range r.Vendors {
		most, what := v.Limit, "permits"
		if v.Cancelled > 0 && v.Quota > 0 {
			most, what = max(v.Limit, v.Quota), "contracted calls"
		}
		bad(v.Measured && most > 0 && v.MaxInFlight > most,
			"vendor %s: %d calls in flight, above its %d %s", v.Name, v.MaxInFlight, most, what)
		bad(v.Refused > 0, "vendor %s: calls refused with 429: %d", v.Name, v.Refused)
	}
	return all
}

// JSON writes the report as indented JSON.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
