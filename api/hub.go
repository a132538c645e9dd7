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

	mu        sync.Mutex // guards what follows; never held while anything blocks
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

// give gives a thing to the listeners of its session.
func (h *hub) give(t talk, it item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners[t] {
		if !l.add(it) {
			h.drop(l)
		}
	}
}

// drop forgets a listener and wakes it. The caller holds h.mu.
func (h *hub) drop(l *listener) {
	all := h.listeners[l.talk]
	if _, found := all[l]; !found {
		return
	}
	delete(all, l)
	if len(all) == 0 {
		delete(h.listeners, l.talk)
	}
	l.end(false)
}

func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for _, all := range h.listeners {
		for l := range all {
			l.end(true)
			h.drop(l)
		}
	}
}
