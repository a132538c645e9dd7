package api

import (
	"context"
	"sync"
)

// locks is a lock for each name that is in use. It is safe for concurrent use.
type locks struct {
	mu   sync.Mutex // guards held
	held map[string]*lock
}

type lock struct {
	token chan struct{} // full: locked
	users int           // holder and waiters; guarded by locks.mu
}

func newLocks() *locks { return &locks{held: map[string]*lock{}} }

// lock waits for the lock of a name, or until ctx ends.
func (ls *locks) lock(ctx context.Context, name string) (unlock func(), err error) {
	ls.mu.Lock()
	l := ls.held[name]
	if l == nil {
		l = &lock{token: make(chan struct{}, 1)}
		ls.held[name] = l
	}
	l.users++
	ls.mu.Unlock()
	select {
	case l.token <- struct{}{}:
		return func() { <-l.token; ls.leave(name, l) }, nil
	case <-ctx.Done():
		ls.leave(name, l)
		return nil, ctx.Err()
	}
}

func (ls *locks) leave(name string, l *lock) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(ls.held, name)
	}
}
