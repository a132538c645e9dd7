package queuetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// Lines are what a log was given, to be waited for.
type Lines chan string

// NewLog returns a log and its lines.
func NewLog() (Lines, zerolog.Logger) {
	lines := make(Lines, 1000)
	return lines, zerolog.New(lines)
}

// Write takes a line, as a log does.
func (l Lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// Until returns the lines up to the one with a text. It is not for bubbles.
func (l Lines) Until(t testing.TB, text string) (seen []string) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		select {
		case line := <-l:
			seen = append(seen, line)
			if strings.Contains(line, text) {
				return seen
			}
		case <-limit.C:
			t.Fatalf("the log never says %q, only %q", text, seen)
		}
	}
}
