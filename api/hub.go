package api

import (
	"context"
	"fmt"
	"sync"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// item is one thing that a session's listener hears: exactly one field is set.
type item struct {
	Event  *chat.Event
	Delta  *chat.Delta
	Typing *chat.Typing
}

// talk names one session of one tenant.
type talk struct{ tenant, session string }

// hub hears every event and delta of the node once and gives each to the listeners
// of its session. It is safe for concurrent use.
type hub struct {
	queue *queue.Queue
	up    chan struct{} // closed once feed and deltas miss nothing any more

	mu        sync.Mutex // guards what follows; held for non-blocking sends only
	listeners map[talk]map[*listener]struct{}
	ended     bool
}

func newHub(q *queue.Queue) *hub {
	return &hub{queue: q, up: make(chan struct{}), listeners: map[talk]map[*listener]struct{}{}}
}

// run feeds the listeners until ctx ends and everything it started has ended. Then
// every listener is closed as one that may have missed something.
func (h *hub) run(ctx context.Context) error {
	defer h.end()
	stop, err := h.queue.Deltas(func(tenant, session string, d chat.Delta) {
		h.give(talk{tenant, session}, item{Delta: &d})
	})
	if err != nil {
		return fmt.Errorf("run hub: %w", err)
	}
	defer stop()
	silence, err := h.queue.Typings(func(tenant, session string, t chat.Typing) {
		h.give(talk{tenant, session}, item{Typing: &t})
	})
	if err != nil {
		return fmt.Errorf("run hub: %w", err)
	}
	defer silence()
	err = h.queue.Feed(ctx, h.up, func(tenant, session string, e chat.Event) {
		h.give(talk{tenant, session}, item{Event: &e})
	})
	if err != nil {
		return fmt.Errorf("run hub: %w", err)
	}
	return nil
}

// ready is closed when whoever listens from now on and then reads the log sees every
// event.
func (h *hub) ready() <-chan struct{} { return h.up }

// listener hears one session. C is closed by close, when C was full (the listener is
// too slow), and when the hub has ended: overflowed tells.
type listener struct {
	C <-chan item

	hub  *hub
	talk talk
	c    chan item
	over bool // guarded by hub.mu
}

// listen opens a listener that may fall size items behind. The caller closes it.
func (h *hub) listen(tenant, session string, size int) *listener {
	c := make(chan item, size)
	l := &listener{C: c, hub: h, talk: talk{tenant, session}, c: c}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		l.over = true
		close(c)
		return l
	}
	if h.listeners[l.talk] == nil {
		h.listeners[l.talk] = map[*listener]struct{}{}
	}
	h.listeners[l.talk][l] = struct{}{}
	return l
}

// close ends the listener; it may be called more than once.
func (l *listener) close() {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.hub.drop(l)
}

// overflowed reports whether the listener was closed without having asked for it: it
// may have missed something, and the log tells what.
func (l *listener) overflowed() bool {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return l.over
}

func (h *hub) give(t talk, it item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners[t] {
		select {
		case l.c <- it:
		default:
			l.over = true
			h.drop(l)
		}
	}
}

// drop forgets a listener and closes its channel; nothing is sent outside h.mu, so
// nothing is sent after that.
func (h *hub) drop(l *listener) {
	all := h.listeners[l.talk]
	if _, found := all[l]; !found {
		return
	}
	delete(all, l)
	if len(all) == 0 {
		delete(h.listeners, l.talk)
	}
	close(l.c)
}

func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for _, all := range h.listeners {
		for l := range all {
			l.over = true
			h.drop(l)
		}
	}
}
