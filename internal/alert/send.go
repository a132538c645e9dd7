package alert

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// The tries of a message: for a day, the pause between two doubling up to a limit. A try that
// nobody told the end of counts as lost after the lease.
const (
	trySpan  = 24 * time.Hour
	tryFirst = 5 * time.Second
	tryMost  = 5 * time.Minute
	TryLease = 30 * time.Second

	// MaxSends bounds the messages that wait for one webhook; a further one joins the last.
	MaxSends = 5
	// MaxListed bounds what a message lists of each kind; the rest is counted.
	MaxListed = 20
)

// Send is one message that waits for a webhook, with what it tells as it was then.
type Send struct {
	ID     string    `json:"id"` // the same for all tries
	Hook   string    `json:"hook"`
	At     time.Time `json:"at"`
	Firing []Alert   `json:"firing,omitempty"`
	Ended  []Alert   `json:"ended,omitempty"`
	More   int       `json:"more,omitempty"` // that are not listed
	Test   bool      `json:"test,omitempty"` // it tells of nothing: somebody wants to see one
	Tries  int       `json:"tries"`          // that were begun
	NextAt time.Time `json:"next_at"`        // of the next try; while one is under way, when it counts as lost
	Fault  string    `json:"fault,omitempty"`
}

// Outcome is what came of a webhook's latest try.
type Outcome struct {
	At     time.Time `json:"at"`
	Fault  string    `json:"fault,omitempty"` // empty: it was taken
	GaveUp bool      `json:"gave_up,omitempty"`
}

// Plan adds what each webhook is to be told at now: what began to fire, what fires for longer
// than repeat since it was told last, and what has ended of what it was told. The first news
// waits for Group, and all that there is by then goes in one message. What waits for webhooks
// that are not among hooks is dropped.
func (s State) Plan(hooks []string, repeat time.Duration, now time.Time) State {
	s = s.Clone()
	s.Sends = slices.DeleteFunc(s.Sends, func(m Send) bool { return !slices.Contains(hooks, m.Hook) })
	for id := range s.Hooks {
		if !slices.Contains(hooks, id) {
			delete(s.Hooks, id)
		}
	}
	for _, hook := range hooks {
		s.plan(hook, repeat, now)
	}
	return s
}

func (s *State) plan(hook string, repeat time.Duration, now time.Time) {
	s.rejoin(hook)
	m, due := Send{Hook: hook, At: now, NextAt: now}, false
	for _, a := range s.Alerts() {
		at, told := a.Told[hook]
		switch {
		case !told:
			due = due || now.Sub(a.Since) >= Group
		case now.Sub(at) >= repeat:
			due = true
		default:
			continue
		}
		m.Firing = append(m.Firing, a)
	}
	for _, a := range s.Recent {
		if _, told := a.Told[hook]; told {
			due = due || now.Sub(a.EndedAt) >= Group
			m.Ended = append(m.Ended, a)
		}
	}
	if !due {
		return
	}
	for i, a := range m.Firing {
		if a.Told == nil {
			a.Told = map[string]time.Time{}
		}
		a.Told[hook] = now
		s.Firing[a.Key] = a
		m.Firing[i].Told = nil
	}
	for i := range s.Recent {
		delete(s.Recent[i].Told, hook)
	}
	for i := range m.Ended {
		m.Ended[i].Told = nil
	}
	s.add(m)
}

// rejoin takes what began again before its end was told for one: neither is told.
func (s *State) rejoin(hook string) {
	for i, old := range s.Recent {
		at, told := old.Told[hook]
		again, fires := s.Firing[old.Key]
		if _, known := again.Told[hook]; !told || !fires || known {
			continue
		}
		if again.Told == nil {
			again.Told = map[string]time.Time{}
		}
		again.Told[hook] = at
		s.Firing[old.Key] = again
		delete(s.Recent[i].Told, hook)
	}
}

// Test adds a message to each webhook that tells of nothing.
func (s State) Test(hooks []string, now time.Time) State {
	s = s.Clone()
	for _, hook := range hooks {
		s.add(Send{Hook: hook, At: now, NextAt: now, Test: true})
	}
	return s
}

func (s *State) add(m Send) {
	waiting, last := 0, 0
	for i, other := range s.Sends {
		if other.Hook == m.Hook {
			waiting, last = waiting+1, i
		}
	}
	if waiting >= MaxSends {
		m = joined(s.Sends[last], m)
		s.Sends = slices.Delete(s.Sends, last, last+1)
	}
	m.Firing, m.Ended = sorted(m.Firing), sorted(m.Ended)
	m.More += max(0, len(m.Firing)-MaxListed) + max(0, len(m.Ended)-MaxListed)
	m.Firing, m.Ended = m.Firing[:min(len(m.Firing), MaxListed)], m.Ended[:min(len(m.Ended), MaxListed)]
	m.ID = idOf(m)
	s.Sends = append(s.Sends, m)
}

// joined makes one message of two that no try was made of: each alert as the later one has it.
func joined(first, then Send) Send {
	later := map[string]bool{}
	for _, a := range slices.Concat(then.Firing, then.Ended) {
		later[a.Key] = true
	}
	known := func(a Alert) bool { return later[a.Key] }
	then.Firing = append(slices.DeleteFunc(slices.Clone(first.Firing), known), then.Firing...)
	then.Ended = append(slices.DeleteFunc(slices.Clone(first.Ended), known), then.Ended...)
	then.More += first.More
	then.Test = then.Test && first.Test
	return then
}

// idOf makes the id of what it is about: whoever plans the same names it the same.
func idOf(m Send) string {
	parts := []string{m.Hook, m.At.UTC().Format(time.RFC3339Nano)}
	for _, a := range slices.Concat(m.Firing, m.Ended) {
		parts = append(parts, a.Key)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "msg_" + hex.EncodeToString(sum[:13])
}

// Due returns the messages whose next try has come: of each webhook the first that waits
// alone, so that the end of an alert never overtakes its beginning.
func (s State) Due(now time.Time) []Send {
	var due []Send
	seen := map[string]bool{}
	for _, m := range s.Sends {
		if !seen[m.Hook] && !m.NextAt.After(now) {
			due = append(due, m)
		}
		seen[m.Hook] = true
	}
	return due
}

// Begin notes that a try of a message begins; false: it waits no more, or somebody else has it.
func (s State) Begin(id string, now time.Time) (State, Send, bool) {
	s = s.Clone()
	i := s.index(id)
	if i < 0 || s.Sends[i].NextAt.After(now) {
		return s, Send{}, false
	}
	s.Sends[i].Tries++
	s.Sends[i].NextAt = now.Add(TryLease)
	return s, s.Sends[i], true
}

// Done notes what came of a try; an empty fault: the message was taken. A receiver that asks
// for a pause gets it.
func (s State) Done(id, fault string, pause time.Duration, now time.Time) State {
	s = s.Clone()
	i := s.index(id)
	if i < 0 {
		return s
	}
	m := &s.Sends[i]
	gaveUp := fault != "" && now.Sub(m.At) >= trySpan
	s.Hooks[m.Hook] = Outcome{At: now, Fault: fault, GaveUp: gaveUp}
	if fault == "" || gaveUp {
		s.Sends = slices.Delete(s.Sends, i, i+1)
		return s
	}
	m.Fault = fault
	m.NextAt = now.Add(max(min(tryFirst<<min(m.Tries-1, 10), tryMost), pause))
	return s
}

func (s State) index(id string) int {
	return slices.IndexFunc(s.Sends, func(m Send) bool { return m.ID == id })
}
