package load

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"time"

	"sluice/internal/chat"
)

// SocketsReport is what became of a load of sockets. It is plain data, as Report is.
//
// Messages = Unacked + all Refused + Acked.
type SocketsReport struct {
	Scenario    string          `json:"scenario"`
	Target      string          `json:"target"`
	StartedAt   time.Time       `json:"started_at"`
	EndedAt     time.Time       `json:"ended_at"` // after all checks
	Interrupted bool            `json:"interrupted"`
	Settings    SocketsSettings `json:"settings"`

	Opened    int            `json:"opened"`    // sockets that were open once
	Gone      int            `json:"gone"`      // of them, those that could not come back
	Reopened  int            `json:"reopened"`  // connections that were opened anew
	Forgotten int            `json:"forgotten"` // of them, those that events between were kept for no more
	Closes    map[string]int `json:"closes"`    // how connections ended that should not have
	OpenMS    Spread         `json:"open_ms"`   // from the dial to the welcome

	Messages int                `json:"messages"`
	Withheld int                `json:"withheld"` // not sent: 20 of the socket's had not ended
	Acked    int                `json:"acked"`
	Ended    int                `json:"ended"`
	Routes   map[chat.Route]int `json:"routes"`
	Refused  map[string]int     `json:"refused"` // for good, by code
	Held     map[string]int     `json:"held"`    // told to come again, by code

	Unacked int `json:"unacked"` // without an ack when the time was over
	Lost    int `json:"lost"`    // acknowledged, and not in the log
	Doubled int `json:"doubled"` // messages and ends that are in the log more than once
	Unended int `json:"unended"` // acknowledged, and without an end in the log
	Gaps    int `json:"gaps"`    // events whose seq was not the next
	Untold  int `json:"untold"`  // sockets that were told something else than the log says
	Unread  int `json:"unread"`  // logs that could not be read

	AckMS       Spread   `json:"ack_ms"`    // from the first sending to the ack
	AnswerMS    Spread   `json:"answer_ms"` // from the first sending to the final event
	AckCount    []Bucket `json:"ack_histogram"`
	AnswerCount []Bucket `json:"answer_histogram"`

	Server ServerUse      `json:"server"`
	Series []SocketSecond `json:"series"`

	Notes   []string `json:"notes"`
	Verdict Verdict  `json:"verdict"`
}

// SocketsSettings are what the run was asked to do.
type SocketsSettings struct {
	Sockets int    `json:"sockets"`
	Tenants int    `json:"tenants"`
	Opens   int    `json:"opens"` // a second
	EveryMS int64  `json:"every_ms"`
	ForMS   int64  `json:"for_ms"`
	RestMS  int64  `json:"rest_ms"`
	Seed    uint64 `json:"seed"`
}

// ServerUse is what the process of the instance used, by its own page /metrics: resident
// memory and, of that, what heap and stacks hold; processors by the time between two looks.
type ServerUse struct {
	Measured bool `json:"measured"`

	StartBytes int64 `json:"start_bytes"` // resident, without a socket
	IdleBytes  int64 `json:"idle_bytes"`  // with all of them, at the end of their rest
	MostBytes  int64 `json:"most_bytes"`  // at any look
	EndBytes   int64 `json:"end_bytes"`   // once they are closed

	IdleEach  int64 `json:"idle_each"`   // resident memory that one idle socket adds
	MostEach  int64 `json:"most_each"`   // the same of the most
	IdleInUse int64 `json:"idle_in_use"` // heap and stacks that one idle socket adds

	IdleCPU float64 `json:"idle_cpu"` // processors in use in the rest
	TalkCPU float64 `json:"talk_cpu"` // and in the talk

	Goroutines int `json:"goroutines"` // with all sockets idle
}

// SocketSecond is one look of the run, in seconds from its start.
type SocketSecond struct {
	At      float64 `json:"at"`
	Open    int64   `json:"open"`
	Acks    float64 `json:"acks"`    // a second, since the look before
	Answers float64 `json:"answers"` // a second
	Bytes   int64   `json:"bytes"`   // resident; 0: not known
	CPU     float64 `json:"cpu"`     // processors, since the look before
}

// report sums the run up. All goroutines of the run have ended.
func (r *socketRun) report() *SocketsReport {
	out := &SocketsReport{
		Scenario: "sockets", Target: r.target.BaseURL, Interrupted: r.interrupted,
		StartedAt: r.startedAt.UTC(), EndedAt: time.Now().UTC(), Notes: []string{},
		Routes: map[chat.Route]int{}, Refused: map[string]int{}, Closes: r.tally.closes, Held: r.tally.holds,
		Reopened: r.tally.back, Forgotten: r.tally.forgotten, OpenMS: spreadOf(r.tally.openMS),
		Withheld: int(r.counts.withheld.Load()),
		Settings: SocketsSettings{
			Sockets: r.cfg.Sockets, Tenants: len(r.target.Keys), Opens: r.cfg.Opens, EveryMS: r.cfg.Every.Milliseconds(),
			ForMS: r.cfg.For.Milliseconds(), RestMS: r.cfg.Rest.Milliseconds(), Seed: r.cfg.Seed,
		},
	}
	if u, err := url.Parse(r.target.BaseURL); err == nil {
		out.Target = u.Host
	}
	r.countTalkers(out)
	out.Server, out.Series = r.meter.use(r.cfg.Sockets), r.meter.series(r.startedAt)
	r.note(out)
	out.Verdict = Verdict{OK: out.OK(), Reasons: append([]string{}, out.faults()...)}
	return out
}

// countTalkers counts what became of every socket and message.
func (r *socketRun) countTalkers(out *SocketsReport) {
	var acks, answers []int64
	for _, k := range r.all {
		if k.welcomed {
			out.Opened++
			if k.gone {
				out.Gone++
			}
		}
		for i := range k.said {
			s := &k.said[i]
			out.Messages++
			switch {
			case s.code != "":
				out.Refused[s.code]++
			case !s.acked:
				out.Unacked++
			default:
				out.Acked++
			}
			if s.acked && s.ackMS >= 0 {
				acks = append(acks, s.ackMS)
			}
			if s.ended {
				out.Ended++
				out.Routes[s.route]++
				answers = append(answers, s.endMS)
			}
		}
		out.Lost += k.found.lost
		out.Doubled += k.found.doubled
		out.Unended += k.found.unended
		out.Gaps += k.found.gaps
		out.Untold += count(k.found.untold)
		out.Unread += count(k.found.unread)
	}
	out.AckMS, out.AckCount = spreadOf(acks), histogramOf(acks)
	out.AnswerMS, out.AnswerCount = spreadOf(answers), histogramOf(answers)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// note tells what a reader of the numbers has to know.
func (r *socketRun) note(out *SocketsReport) {
	note := func(is bool, format string, args ...any) {
		if is {
			out.Notes = append(out.Notes, fmt.Sprintf(format, args...))
		}
	}
	note(r.tally.refusals > 0, "sockets were refused with %d: raise `sockets` of the rules (max, per_tenant, per_address, opens), or take more --tenants", tooMany)
	note(out.Held["rate_limited"] > 0, "messages were told to wait: raise `intake.tenant` or `sockets.sends` of the rules, or take more --tenants")
	note(out.Held["queue_full"] > 0, "messages were told to wait: raise the `bound` of their lane in the rules")
	note(out.Withheld > 0, "%d messages were not sent, because %d of their socket had not ended", out.Withheld, mostOpen)
	note(!out.Server.Measured, "the instance shows no process_resident_memory_bytes at /metrics: its memory and CPU were not measured")
	note(out.Server.Measured && r.meter.missed > 0, "looks at /metrics that went wrong: %d", r.meter.missed)
	for _, fail := range r.tally.fails {
		note(true, "connection: %s", fail)
	}
	for _, k := range r.all {
		if k.found.unread && !r.interrupted {
			note(true, "the first log that could not be read: %s", k.found.fail)
			break
		}
	}
}

// OK reports whether every socket was opened and seen to its end, nothing was lost, doubled
// or left without an end, every socket was told what its log says, and the run went to its
// end. Refusals are answers.
func (r *SocketsReport) OK() bool { return len(r.faults()) == 0 }

func (r *SocketsReport) faults() []string {
	var all []string
	bad := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	bad(r.Interrupted, "interrupted: not all was sent and checked")
	bad(r.Opened < r.Settings.Sockets, "sockets that did not open: %d", r.Settings.Sockets-r.Opened)
	bad(r.Gone > 0, "sockets that could not come back: %d", r.Gone)
	bad(r.Forgotten > 0, "sockets whose past was kept no more: %d", r.Forgotten)
	bad(r.Acked == 0, "no message was acknowledged")
	bad(r.Unacked > 0, "messages without an ack: %d", r.Unacked)
	bad(r.Lost > 0, "messages lost: %d", r.Lost)
	bad(r.Doubled > 0, "messages or ends doubled: %d", r.Doubled)
	bad(r.Unended > 0, "messages without an end: %d", r.Unended)
	bad(r.Gaps > 0, "gaps in seq: %d", r.Gaps)
	bad(r.Untold > 0, "sockets that were told something else than their log says: %d", r.Untold)
	bad(r.Unread > 0, "logs that the checks could not read: %d", r.Unread)
	return all
}

// JSON writes the report as indented JSON.
func (r *SocketsReport) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
