package worker

import (
	"container/heap"
	"net/url"
	"time"

	"sluice/internal/chat"
)

// How long a host that takes nothing is left alone, from the first failure in a row to the
// last. While there is one, it gets one message at a time.
const (
	hostPause = time.Second
	hostMost  = time.Minute
)

// waiting is a webhook that waits.
type waiting struct {
	hook  chat.Hook
	at    time.Time // when it is looked at next
	index int       // in the heap; -1: not there
	busy  bool      // a try is under way here
	gone  bool      // it waits no more
	host  string    // of the try under way
}

// host is a receiver as a whole.
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

// lines is what waits, by time, and how its hosts stand. One that is dead delays no other: its
// messages stand in a line of their own. It is not safe for concurrent use.
type lines struct {
	byTime byTime
	all    map[string]*waiting
	hosts  map[string]*host
	busy   int
	full   []*waiting // for which there was no place of the process's
}

func newLines() *lines { return &lines{all: map[string]*waiting{}, hosts: map[string]*host{}} }

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
	for len(l.byTime) > 0 {
		w := l.byTime[0]
		if w.at.After(now) {
			return due, w.at
		}
		heap.Pop(&l.byTime)
		if w.hook.NextAt.After(now) { // somebody else tries it, or did
			w.at = w.hook.NextAt
			heap.Push(&l.byTime, w)
			continue
		}
		name := hostOf(&w.hook)
		h := l.hosts[name]
		if h == nil {
			h = &host{}
			l.hosts[name] = h
		}
		switch {
		case now.Before(h.until):
			w.at = h.until
			heap.Push(&l.byTime, w)
		case !h.room():
			h.blocked = append(h.blocked, w)
		case l.busy >= atOnce:
			l.full = append(l.full, w)
		default:
			l.busy++
			h.busy++
			w.busy, w.host = true, name
			due = append(due, w)
		}
	}
	return due, time.Time{}
}

// done notes the end of a try: away says that its host takes nothing, and wait how long it
// asks to be left alone. at is when the webhook is looked at next, if it waits still.
func (l *lines) done(w *waiting, now time.Time, away bool, wait time.Duration, at time.Time) {
	h := l.hosts[w.host]
	l.busy--
	h.busy--
	w.busy = false
	if away {
		h.failed++
		pause := min(hostPause<<min(h.failed-1, 10), hostMost)
		h.until = now.Add(max(pause, wait))
	} else {
		h.failed = 0
	}
	if !w.gone {
		w.at = at
		heap.Push(&l.byTime, w)
	}
	l.wakeUp(&h.blocked, atOnceHost)
	l.wakeUp(&l.full, 1)
	if h.busy == 0 && h.failed == 0 && len(h.blocked) == 0 {
		delete(l.hosts, w.host)
	}
}

// wakeUp lets up to n of those that stood aside be looked at again.
func (l *lines) wakeUp(aside *[]*waiting, n int) {
	for ; n > 0 && len(*aside) > 0; *aside = (*aside)[1:] {
		if w := (*aside)[0]; !w.gone {
			heap.Push(&l.byTime, w)
			n--
		}
	}
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
