package tool

import (
	"context"
	"encoding/json"
	"time"
)

// told is the result of a call that only reads, for repeats of it in the same answer.
type told struct {
	done   chan struct{} // closed once the rest stands
	result result
	at     time.Time
}

// once makes a call that only reads, unless the answer has made the same one a moment ago:
// the same tool with the same arguments, for the one customer that an answer has. What was
// not answered is asked for again.
func (r *Run) once(ctx context.Context, t *known, arguments map[string]any) result {
	req := request{arguments: arguments}
	text, err := json.Marshal(arguments) // in the order of their names
	if err != nil || r.set.keep <= 0 {
		return r.reach(ctx, t, req)
	}
	key := t.Name + " " + string(text)
	for {
		r.mu.Lock()
		before := r.told[key]
		if before == nil {
			now := &told{done: make(chan struct{}), result: result{state: unknown}}
			r.told[key] = now
			r.mu.Unlock()
			return r.tell(ctx, t, req, key, now)
		}
		r.mu.Unlock()
		select {
		case <-before.done:
		case <-ctx.Done():
			return result{state: unknown}
		}
		if before.answered() && time.Since(before.at) < r.set.keep {
			return before.result
		}
		r.forget(key, before)
	}
}

// tell makes the call that others of the same round may wait for.
func (r *Run) tell(ctx context.Context, t *known, req request, key string, now *told) result {
	defer func() { // also of a panic
		now.at = time.Now()
		if !now.answered() {
			r.forget(key, now)
		}
		close(now.done)
	}()
	now.result = r.reach(ctx, t, req)
	return now.result
}

// forget has a call made again.
func (r *Run) forget(key string, old *told) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told[key] == old {
		delete(r.told, key)
	}
}

func (t *told) answered() bool { return t.result.state == good || t.result.state == refused }
