package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// errExit is what a load came to that ended its goroutine.
var errExit = errors.New("the load never returned")

// flight is one load that is under way, and all who wait for it.
type flight[V any] struct {
	cancel context.CancelFunc
	done   chan struct{} // closed once value and err stand
	value  V
	err    error
}

// wait returns what the load came to, or the cause of ctx's end.
func (f *flight[V]) wait(ctx context.Context) (V, error) {
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		var none V
		return none, context.Cause(ctx)
	}
}

// board returns the load of key that is under way, or begins one. Where a load has ended
// since the caller looked, it returns what that has left instead.
func (c *Cache[V]) board(ctx context.Context, key Key, load func(context.Context) (V, error)) (*flight[V], *entry[V], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	if f := c.flights[key]; f != nil {
		return f, nil, nil
	}
	if e := c.entry(key, time.Now()); e != nil {
		return nil, e, nil
	}
	return c.depart(ctx, key, nil, load), nil, nil
}

// refresh begins to load anew what is stale, unless that goes on already, failed a moment
// ago, or cannot succeed now.
func (c *Cache[V]) refresh(ctx context.Context, key Key, e *entry[V], now time.Time, load func(context.Context) (V, error)) {
	if c.cfg.Away() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.flights[key] != nil || now.Before(e.retryAt) || c.refreshing >= c.cfg.Refreshes {
		return
	}
	if last := c.entry(key, now); last != nil && last != e {
		return // a load has ended since the caller looked
	}
	c.refreshing++
	c.depart(ctx, key, e, load)
}

// depart begins a load; stale is what it is to replace, or nil. The caller holds the mutex.
func (c *Cache[V]) depart(ctx context.Context, key Key, stale *entry[V], load func(context.Context) (V, error)) *flight[V] {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.cfg.Limit)
	f := &flight[V]{cancel: cancel, done: make(chan struct{}), err: errExit}
	c.flights[key] = f
	c.loads.Go(func() {
		defer cancel()
		defer c.land(key, stale, f)
		f.value, f.err = c.guarded(ctx, load)
	})
	return f
}

// guarded makes an error of a panic. Its text does not show the value, which may hold what
// a customer wrote.
func (c *Cache[V]) guarded(ctx context.Context, load func(context.Context) (V, error)) (value V, err error) {
	defer func() {
		if recover() != nil {
			c.cfg.Log.Error().Str("cache", c.cfg.Name).Bytes("stack", debug.Stack()).Msg("a load panicked")
			err = fmt.Errorf("load for cache %s: it panicked", c.cfg.Name)
		}
	}()
	return load(ctx)
}

// land stores what a load came to, and lets everybody go on. Whoever begins another one
// finds the value stored.
func (c *Cache[V]) land(key Key, stale *entry[V], f *flight[V]) {
	if f.err == nil {
		c.Put(key, f.value)
	} else {
		c.tally.Failed.Add(1)
	}
	c.mu.Lock()
	delete(c.flights, key)
	if stale != nil {
		c.refreshing--
		if f.err != nil {
			c.postpone(stale)
			c.cfg.Log.Warn().Err(f.err).Str("cache", c.cfg.Name).Int("failures", stale.failures).Msg("a refresh failed, the stale value stands")
		}
	}
	c.mu.Unlock()
	close(f.done)
}

// postpone sets when a refresh may be tried again. The caller holds the mutex.
func (c *Cache[V]) postpone(e *entry[V]) {
	most := max(c.cfg.Keep(), c.cfg.Backoff)
	pause := most
	if e.failures < 30 {
		pause = min(most, c.cfg.Backoff<<e.failures)
	}
	e.failures++
	e.retryAt = time.Now().Add(pause)
}
