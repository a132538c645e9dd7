package pgvector

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/gate"
)

func TestNoMoreSearchesRunThanThereAreConnections(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	g, now := newGuard(Config{Log: zerolog.New(&log)}.complete(), 2), time.Now()
	enter := func(want bool) uint64 {
		t.Helper()
		id, in := g.enter(now)
		if in != want {
			t.Fatalf("let in: %t, want %t", in, want)
		}
		return id
	}
	one, two := enter(true), enter(true)
	enter(false)
	g.leave(one, gate.Failed, now)
	one = enter(true)
	g.leave(one, gate.Failed, now)
	if !g.closed(now) {
		t.Error("two failures of two calls are too few")
	}
	g.leave(two, gate.Failed, now)
	enter(false)
	now = now.Add(7 * time.Second) // the cooldown, and a fifth
	probe := enter(true)
	enter(false)
	g.leave(probe, gate.Good, now)
	if !g.closed(now) {
		t.Error("a good probe leaves it shut")
	}
	one = enter(true)
	enter(false) // all at once, on the word of one probe, is too much
	g.leave(one, gate.Good, now)
	if lines := strings.Split(strings.TrimSpace(log.String()), "\n"); len(lines) != 2 ||
		!strings.Contains(lines[0], "away or slow") || !strings.Contains(lines[1], "again") {
		t.Errorf("the log says %q", lines)
	}
}
