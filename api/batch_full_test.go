//go:build !race

// The lines of a batch go through one goroutine: the race detector would watch nothing here,
// for a minute.

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"sluice/internal/chat"
)

// fullBody is a batch of the most lines that one may have, made while it is read.
type fullBody struct {
	bad  int // the line that is not valid
	line int
	left []byte
	look func() // before each read
}

func (b *fullBody) Read(p []byte) (int, error) {
	b.look()
	for len(b.left) == 0 {
		if b.line == maxLines {
			return 0, io.EOF
		}
		b.line++
		text := fmt.Sprintf("{\"message\":\"Where is order %d?\",\"custom_id\":\"c-%d\"}\n", b.line, b.line)
		if b.line == b.bad {
			text = `{"message":"Where is it?","lane":"high"}` + "\n"
		}
		b.left = []byte(text)
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

// TestABadLineAtTheEndOfAFullBatch has 100,000 lines of which the last but one is not valid:
// nothing is kept of them, and never more of them was held than one part.
func TestABadLineAtTheEndOfAFullBatch(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	caller, err := f.API.tenant(t.Context(), "demo")
	must(t, err)
	up := newUpload(f.queue, caller, f.deps.Rules().Lanes)
	lines, size, spooled := 0, 0, 0
	body := &fullBody{bad: maxLines - 1, look: func() {
		lines, size = max(lines, len(up.part.Lines)), max(size, up.size)
		if len(up.part.Lines) > 0 {
			spooled = max(spooled, up.part.First-1)
		}
	}}
	err = up.read(t.Context(), body)
	p := problemOf(err)
	if p.Status != http.StatusBadRequest || len(p.Errors) != 1 || p.Errors[0].Line != maxLines-1 || up.total != maxLines {
		t.Fatalf("%v: %+v, %d lines", err, p.Errors, up.total)
	}
	if lines > partLines || size > partSize || spooled < maxLines-2*partLines {
		t.Errorf("held %d lines and %d bytes at once, spooled %d: the test sees too little, or too much was held", lines, size, spooled)
	}
	f.dropSpool(context.WithoutCancel(t.Context()), up)
	f.nothingSpooled()
	open, err := f.queue.OpenBatches(t.Context())
	depth, errDepth := f.queue.Depth(t.Context(), chat.Batch)
	if err != nil || errDepth != nil || len(open) != 0 || depth != 0 {
		t.Errorf("open %v (%v), depth %d (%v)", open, err, depth, errDepth)
	}
	msg, err := f.engine.Request("$JS.API.STREAM.INFO.KV_tickets", nil, time.Second)
	must(t, err)
	var info struct{ State struct{ Messages int } }
	if must(t, json.Unmarshal(msg.Data, &info)); info.State.Messages != 0 {
		t.Errorf("%d tickets", info.State.Messages)
	}
}
