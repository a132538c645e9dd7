package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/cache"
	"sluice/internal/chat"
)

// The vectors of questions that are at hand: 16 MiB, for an hour. A vector depends on
// nothing but its text and its space.
const (
	askedBytes = 16 << 20
	askedKeep  = time.Hour
)

// askedRest is how long no question is embedded after one came to nothing: a vendor that is
// slow or away costs one ticket its wait, and the next ones none.
const askedRest = 5 * time.Second

// askedLimit is how long the call for a question may go on after nobody waits for it any
// more: the next who asks the same finds the vector.
const askedLimit = 2 * time.Second

func newAsked(log zerolog.Logger) (*cache.Cache[[]float32], error) {
	return cache.New(cache.Config[[]float32]{
		Name: "vectors", Bound: askedBytes, Keep: func() time.Duration { return askedKeep },
		Cost: func(v []float32) int { return 128 + 4*len(v) }, Empty: func(v []float32) bool { return len(v) == 0 },
		EmptyFor: askedKeep, Limit: askedLimit, Log: log,
	})
}

// vector returns the vector of a ticket's message in a space: at once where it is at hand,
// else within the time that the rules give. Nil: it cannot be had so soon, or the load is
// too high to ask; then words alone have to do.
func (e *embeddings) vector(t *chat.Ticket, id string) []float32 {
	s, known := e.space(id)
	if !known {
		return nil
	}
	text := embedded(t.Message)
	key, err := cache.Scope{Tenant: t.Tenant, Model: id, Prompt: cache.None, Knowledge: cache.None}.Key(text)
	if err != nil {
		return nil // a ticket without a tenant
	}
	if v, _, found := e.asked.Peek(key); found {
		e.known.Add(1)
		return direction(v)
	}
	level, _ := e.level(t.Lane)
	if level >= crowded || time.Now().UnixNano() < e.rest.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Wait)
	defer cancel()
	v, err := e.asked.Get(ctx, key, func(calling context.Context) ([]float32, error) {
		granted, cancel := context.WithTimeout(calling, s.Wait)
		defer cancel()
		vectors, err := e.embed(calling, granted, s, t.ID, []string{text})
		if err != nil {
			return nil, err
		}
		return vectors[0], nil
	})
	if err != nil {
		e.rest.Store(time.Now().Add(askedRest).UnixNano())
		return nil
	}
	return direction(v)
}

// direction is nil for a text that has none.
func direction(v []float32) []float32 {
	if len(v) == 0 {
		return nil
	}
	return v
}

// space returns the space of an id, as the rules ask it now or did when it came into force;
// false: none in use has it.
func (e *embeddings) space(id string) (space, bool) {
	if want, on := spaceOf(e.live.rules()); !on || want.id() == id {
		return want, on
	}
	if l := e.live.library; l != nil {
		if now := l.near.Load(); now != nil && now.space.id() == id {
			return now.space, true
		}
	}
	if f := e.live.faqs; f != nil {
		if now := f.inForce.Load(); now != nil && now.near != nil && now.near.space.id() == id {
			return now.near.space, true
		}
	}
	return space{}, false
}
