//go:build unix

package pgchild

import (
	"bytes"
	"strings"
	"sync"

	"github.com/rs/zerolog"
)

const (
	linesKept   = 8
	longestLine = 2000 // bytes
)

// lines passes the server's output on to the log, line by line, and keeps the last few for an error message.
// Safe for concurrent use.
type lines struct {
	log zerolog.Logger

	mu   sync.Mutex
	part []byte
	last []string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	for {
		line, rest, ok := bytes.Cut(l.part, []byte("\n"))
		if !ok {
			break
		}
		l.keep(string(line))
		l.part = rest
	}
	if len(l.part) > longestLine {
		l.keep(string(l.part[:longestLine]))
		l.part = nil
	}
	return len(p), nil
}

func (l *lines) keep(line string) {
	if line = strings.TrimSpace(line); line == "" {
		return
	}
	l.log.Debug().Str("line", line).Msg("postgres says")
	if len(l.last) == linesKept {
		l.last = l.last[1:]
	}
	l.last = append(l.last, line)
}

// tail is what the server said last, on one line.
func (l *lines) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.last, " | ")
}
