package cache

import (
	"errors"
	"time"

	"github.com/rs/zerolog"
)

// Config describes a cache.
type Config[V any] struct {
	Name string // of its counts and log lines; required
	// Bound is the most that all entries may cost together; required. Beyond it those go
	// that are used least; the bound may be passed by one entry while that happens.
	Bound uint64
	// Cost returns what a value costs, at least 1 is counted. Nil: each costs 1.
	Cost func(V) int
	// Keep returns how long a value is fresh, at each load anew. 0: nothing is kept, and
	// equal loads at one time are still one. Required.
	Keep func() time.Duration
	// Jitter returns how much is taken off Keep at random, at most half of Keep, so that
	// what was loaded together is not stale together. Nil: nothing is.
	Jitter func() time.Duration
	// Stale is how long a value is still given once it is no longer fresh. Defaults to 24h.
	Stale time.Duration
	// Empty reports whether a value holds nothing. Such a one is kept for EmptyFor at most
	// and never given stale. Nil: no value is empty.
	Empty    func(V) bool
	EmptyFor time.Duration // Defaults to 10s.
	// Limit is how long one load may take. Defaults to 30s.
	Limit time.Duration
	// Backoff is how long a value stands after a refresh of it has failed; it doubles with
	// each further failure, up to Keep. Defaults to 1s.
	Backoff time.Duration
	// Refreshes is how many loads in the background there may be at once. What would be
	// one more stays stale, and a later use refreshes it. Defaults to 16.
	Refreshes int
	// Away reports that loads would fail now: stale values are given without a refresh. It
	// must not block. Nil: they never are.
	Away func() bool
	Log  zerolog.Logger
}

// Validate names the field that is wrong.
func (c Config[V]) Validate() error {
	switch {
	case c.Name == "":
		return errors.New("cache config: Name is empty")
	case c.Bound == 0:
		return errors.New("cache config: Bound must be at least 1")
	case c.Keep == nil:
		return errors.New("cache config: Keep is nil")
	case c.Stale < 0 || c.EmptyFor < 0 || c.Limit < 0 || c.Backoff < 0 || c.Refreshes < 0:
		return errors.New("cache config: Stale, EmptyFor, Limit, Backoff and Refreshes must not be negative")
	}
	return nil
}

func (c Config[V]) withDefaults() Config[V] {
	c.Stale = orDefault(c.Stale, 24*time.Hour)
	c.EmptyFor = orDefault(c.EmptyFor, 10*time.Second)
	c.Limit = orDefault(c.Limit, 30*time.Second)
	c.Backoff = orDefault(c.Backoff, time.Second)
	c.Refreshes = orDefault(c.Refreshes, 16)
	if c.Jitter == nil {
		c.Jitter = func() time.Duration { return 0 }
	}
	if c.Empty == nil {
		c.Empty = func(V) bool { return false }
	}
	if c.Away == nil {
		c.Away = func() bool { return false }
	}
	return c
}

func orDefault[T time.Duration | int](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// weight is what an entry counts for the bound.
func (c Config[V]) weight(value V) uint32 {
	if c.Cost == nil {
		return 1
	}
	return uint32(min(max(1, c.Cost(value)), 1<<31))
}
