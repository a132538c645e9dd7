package load

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

const (
	mostCloses = 50 // different ways to end that are told apart
	otherClose = "other"
	failSample = 3
)

// socketTally counts what concerns connections. It is safe for concurrent use.
type socketTally struct {
	mu        sync.Mutex
	openMS    []int64
	back      int            // connections that were opened anew
	forgotten int            // of them, those that events between were kept for no more
	closes    map[string]int // how connections ended, or were refused
	refusals  int            // of them, those with code 4013
	holds     map[string]int // messages that were told to wait, by code
	fails     []string       // the first errors of other kinds
}

func (t *socketTally) opened(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.openMS = append(t.openMS, took.Milliseconds())
}

func (t *socketTally) reopened(recovered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.back++
	if !recovered {
		t.forgotten++
	}
}

func (t *socketTally) held(code string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holds[code]++
}

// closed counts the end of a connection that the load did not want.
func (t *socketTally) closed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := closeName(err)
	if _, known := t.closes[name]; !known && len(t.closes) >= mostCloses {
		name = otherClose
	}
	t.closes[name]++
	if websocket.CloseStatus(err) == tooMany {
		t.refusals++
	}
	if websocket.CloseStatus(err) < 0 && len(t.fails) < failSample {
		t.fails = append(t.fails, err.Error())
	}
}

// tooMany is the close code of a limit.
const tooMany websocket.StatusCode = 4013

// closeName names the end of a connection.
func closeName(err error) string {
	var said websocket.CloseError
	switch {
	case errors.As(err, &said):
		return fmt.Sprintf("%d %s", said.Code, said.Reason)
	case errors.Is(err, syscall.EMFILE):
		return "too many open files here"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	}
	if no, ok := errors.AsType[*refusal](err); ok {
		return no.code
	}
	return "connection lost"
}
