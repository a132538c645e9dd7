package sim

import (
	"slices"
	"sync"
	"time"
)

// Bounds of what a recording vendor keeps: the newest prompts up to both.
const (
	maxPrompts     = 4096
	maxPromptBytes = 64 << 20
)

// Prompt is one request as it was received, for a chat or for embeddings.
type Prompt struct {
	ReceivedAt time.Time
	Model      string
	Stream     bool
	Messages   []Message
	Tools      []string // names of the tools that were offered
	Inputs     []string // texts that vectors were asked for; none: it was a chat

	bytes int
}

// record is a bounded memory of prompts, safe for concurrent use.
type record struct {
	mu      sync.Mutex
	prompts []Prompt
	bytes   int
}

func (r *record) add(p Prompt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prompts = append(r.prompts, p)
	r.bytes += p.bytes
	drop := 0
	for len(r.prompts)-drop > maxPrompts || r.bytes > maxPromptBytes {
		r.bytes -= r.prompts[drop].bytes
		drop++
	}
	if drop > 0 {
		clear(r.prompts[:drop]) // frees the text before append moves the array
		r.prompts = r.prompts[drop:]
	}
}

func (r *record) read() []Prompt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.prompts)
}

func (r *record) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prompts, r.bytes = nil, 0
}
