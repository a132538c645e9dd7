package api

import "sync"

// listener hears one session. Who owns it waits on Bell and then takes what came. It
// takes room for what waits only, so that ten thousand idle ones are cheap.
type listener struct {
	Bell <-chan struct{} // there is something to take, or the listener has ended

	hub  *hub
	talk talk
	bell chan struct{}
	most int

	mu    sync.Mutex // guards what follows; taken after hub.mu
	items []item
	ended bool
	over  bool
}

// listen opens a listener that may fall most items behind. The caller closes it.
func (h *hub) listen(tenant, session string, most int) *listener {
	bell := make(chan struct{}, 1)
	l := &listener{Bell: bell, hub: h, talk: talk{tenant, session}, bell: bell, most: most}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		l.end(true)
		return l
	}
	if h.listeners[l.talk] == nil {
		h.listeners[l.talk] = map[*listener]struct{}{}
	}
	h.listeners[l.talk][l] = struct{}{}
	return l
}

// take returns what came since the last call, in order. open is false once no more will
// come: after close, after falling too far behind, and when the hub has ended; what came
// before that is returned first.
func (l *listener) take() (items []item, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	items, l.items = l.items, nil
	return items, !l.ended
}

// close ends the listener; it may be called more than once.
func (l *listener) close() {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.hub.drop(l)
}

// overflowed reports whether the listener has ended without having asked for it: it may
// have missed something, and the log tells what.
func (l *listener) overflowed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// add keeps an item for the owner; false: there is no room, and the listener has ended.
func (l *listener) add(it item) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.items) >= l.most {
		l.over = true
		return false
	}
	l.items = append(l.items, it)
	l.ring()
	return true
}

func (l *listener) end(missed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.over = true, l.over || missed
	l.ring()
}

func (l *listener) ring() {
	select {
	case l.bell <- struct{}{}:
	default:
	}
}
