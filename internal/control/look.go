package control

import (
	"context"
	"encoding/json"
	"time"

	"sluice/internal/chat"
)

// Limits of a question about the line: it is only shown to people.
const (
	placeLimit = 250 * time.Millisecond
	placeAge   = time.Second
	placesKept = 4096
)

// placeCache keeps answers about the line for a moment: many sockets ask. Member.mu
// guards it.
type placeCache struct {
	seen map[string]seenPlace
}

type seenPlace struct {
	place
	at time.Time
}

func newPlaceCache() placeCache { return placeCache{seen: map[string]seenPlace{}} }

// Standing returns a waiting ticket's place in the line, counted from 1, and when it
// may expect its turn; ok is false if it does not wait or nobody knows. Both are
// estimates, up to a second old. It may take placeLimit.
func (m *Member) Standing(ticket string) (position int, eta time.Duration, ok bool) {
	if m.local != nil {
		if p, served := m.local.look(ticket); served {
			return p.Position, p.ETA, p.Position > 0
		}
	}
	now := time.Now()
	m.mu.Lock()
	s, cached := m.places.seen[ticket]
	m.mu.Unlock()
	if !cached || now.Sub(s.at) > placeAge {
		s = seenPlace{place: m.askPlace(ticket), at: now}
		m.mu.Lock()
		if len(m.places.seen) >= placesKept {
			clear(m.places.seen)
		}
		m.places.seen[ticket] = s
		m.mu.Unlock()
	}
	return s.Position, s.ETA, s.Position > 0
}

func (m *Member) askPlace(ticket string) (p place) {
	if m.State().Node == "" {
		return p
	}
	ctx, cancel := context.WithTimeout(context.Background(), placeLimit)
	defer cancel()
	body, err := m.queue.AskPlace(ctx, []byte(ticket))
	if err == nil {
		err = json.Unmarshal(body, &p)
	}
	if err != nil {
		m.log.Debug().Err(err).Msg("the line does not answer")
	}
	return p
}

// Behind returns the place that a new ticket of a lane would have, and when it might
// expect its turn: as of the controller's last sign of life, half a second ago or less.
func (m *Member) Behind(lane chat.Lane) (position int, eta time.Duration) {
	if m.local != nil {
		if p, served := m.local.lookBehind(lane); served {
			return p.Position, p.ETA
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.told.Behind[lane]
	return max(1, p.Position), p.ETA
}
