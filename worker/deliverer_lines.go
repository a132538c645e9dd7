package worker

import (
	"container/heap"
	"maps"
	"net/url"
	"slices"
	"time"

	"sluice/internal/chat"
)

// How long a host that takes nothing is left alone, from the first failure in a row to the
// last. While there is one, it gets one message at a time.
const (
	hostPause = time.Second
	hostMost  = time.Minute
	hostAsked = 5 * time.Minute // the most that one receiver's Retry-After holds up others behind its host
)

// maxHosts is how many hosts may be known at once before those that nothing waits for are
// forgotten, with their failures.
const maxHosts = 10_000

// waiting is a webhook that waits.
type waiting struct {
	hook  chat.Hook
	at    time.Time // when it is looked at next
	index int       // in the heap; -1: not there
	busy  bool      // a try is under way here
	gone  bool      // it waits no more
	host  receiver  // of the try under way
}

// receiver is a host as one tenant calls it. Tenants that call the same host (that of a
// service for many, say) have their own places there, and their own failures.
type receiver struct{ tenant, host string }

// host is how a receiver stands.
type host struct {
	busy    int
	failed  int       // in a row
	until   time.Time // it is left alone
	blocked []*waiting
}

// room reports whether a host takes another try.
func (h *host) room() bool {
	if h.failed > 0 {
		return h.busy == 0
	}
	return h.busy < atOnceHost
}

// tenant is what a tenant has under way, to all of its hosts.
type tenant struct {
	busy    int
	blocked []*waiting
}

// lines is what waits, by time, and how its hosts and tenants stand. A host that is dead or
// slow delays no other, and a tenant none: what they hold up stands in a line of its own. It
// is not safe for concurrent use.
type lines struct {
	byTime  byTime
	all     map[string]*waiting
	hosts   map[receiver]*host
	tenants map[string]*tenant // those with a try under way
	busy    int
	full    []*waiting // for which there was no place of the process's
}

func newLines() *lines {
	return &lines{all: map[string]*waiting{}, hosts: map[receiver]*host{}, tenants: map[string]*tenant{}}
}

// note takes over an entry as it stands in the outbox.
func (l *lines) note(h chat.Hook) {
	w := l.all[h.ID]
	switch {
	case w != nil && h.Rev < w.hook.Rev:
	case h.State != chat.HookWaiting:
		if w != nil {
			w.gone = true
			if w.index >= 0 {
				heap.Remove(&l.byTime, w.index)
			}
			delete(l.all, h.ID)
		}
	case w == nil:
		w = &waiting{hook: h, at: h.NextAt, index: -1}
		l.all[h.ID] = w
		heap.Push(&l.byTime, w)
	default:
		w.hook = h
		if w.index >= 0 {
			w.at = h.NextAt
			heap.Fix(&l.byTime, w.index)
		}
	}
}

// due returns what is to be tried now and when to look again; zero: not before news.
func (l *lines) due(now time.Time, hostOf func(*chat.Hook) string) (due []*waiting, next time.Time) {
	for l.wakeUpFewest(); len(l.byTime) > 0; l.wakeUpFewest() {
		w := l.byTime[0]
		if w.at.After(now) {
			return due, w.at
		}
		heap.Pop(&l.byTime)
		if w.gone {
			continue // since it stood aside
		}
		if w.hook.NextAt.After(now) { // somebody else tries it, or did
			w.at = w.hook.NextAt
			heap.Push(&l.byTime, w)
			continue
		}
		to := receiver{w.hook.Tenant, hostOf(&w.hook)}
		h, of := l.hosts[to], l.tenants[to.tenant]
		if h == nil {
			h = &host{}
			l.hosts[to] = h
		}
		if of == nil {
			of = &tenant{}
			l.tenants[to.tenant] = of
		}
		switch {
		case now.Before(h.until):
			w.at = h.until
			heap.Push(&l.byTime, w)
		case !h.room():
			h.blocked = append(h.blocked, w)
		case of.busy >= atOnceTenant:
			of.blocked = append(of.blocked, w)
		case l.busy >= atOnce:
			l.full = append(l.full, w)
		default:
			l.busy++
			h.busy++
			of.busy++
			w.busy, w.host = true, to
			due = append(due, w)
		}
		if of.busy == 0 {
			delete(l.tenants, to.tenant)
		}
	}
	return due, time.Time{}
}

// done notes the end of a try: away says that its host takes nothing, and wait how long it
// asks to be left alone. at is when the webhook is looked at next, if it waits still.
func (l *lines) done(w *waiting, now time.Time, away bool, wait time.Duration, at time.Time) {
	h, of := l.hosts[w.host], l.tenants[w.host.tenant]
	l.busy--
	h.busy--
	of.busy--
	w.busy = false
	if away {
		h.failed++
		pause := min(hostPause<<min(h.failed-1, 10), hostMost)
		h.until = now.Add(max(pause, min(wait, hostAsked)))
	} else {
		h.failed = 0
	}
	if !w.gone {
		w.at = at
		heap.Push(&l.byTime, w)
	}
	l.standBy(&h.blocked, atOnceHost)
	l.standBy(&of.blocked, atOnceTenant-of.busy)
	if of.busy == 0 && len(of.blocked) == 0 {
		delete(l.tenants, w.host.tenant)
	}
	if h.busy == 0 && h.failed == 0 && len(h.blocked) == 0 {
		delete(l.hosts, w.host)
	}
	if len(l.hosts) > maxHosts {
		maps.DeleteFunc(l.hosts, func(_ receiver, h *host) bool {
			return h.busy == 0 && len(h.blocked) == 0 && now.After(h.until)
		})
	}
}

// standBy lets up to n of those that stood aside stand for a place of the process's.
func (l *lines) standBy(aside *[]*waiting, n int) {
	for ; n > 0 && len(*aside) > 0; *aside = (*aside)[1:] {
		if w := (*aside)[0]; !w.gone {
			l.full = append(l.full, w)
			n--
		}
	}
}

// wakeUpFewest lets one of those that stand for a place be looked at, if there is one: of the
// tenant with the least under way, and of these the one that stands longest.
func (l *lines) wakeUpFewest() {
	if l.busy >= atOnce {
		return
	}
	fewest, least := -1, atOnce
	for i, w := range l.full {
		busy := 0
		if of := l.tenants[w.hook.Tenant]; of != nil {
			busy = of.busy
		}
		if busy < least {
			fewest, least = i, busy
		}
		if busy == 0 {
			break
		}
	}
	if fewest < 0 {
		return
	}
	w := l.full[fewest]
	l.full = slices.Delete(l.full, fewest, fewest+1)
	heap.Push(&l.byTime, w)
}

// byTime is a heap of what waits, the next one first.
type byTime []*waiting

func (b byTime) Len() int           { return len(b) }
func (b byTime) Less(i, j int) bool { return b[i].at.Before(b[j].at) }
func (b byTime) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].index, b[j].index = i, j
}

func (b *byTime) Push(x any) {
	w := x.(*waiting)
	w.index = len(*b)
	*b = append(*b, w)
}

func (b *byTime) Pop() any {
	last := len(*b) - 1
	w := (*b)[last]
	(*b)[last], w.index = nil, -1
	*b = (*b)[:last]
	return w
}

// hostOf returns what messages to one receiver have in common.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
