package sim

import "sync"

// Stats counts the calls of one vendor since its start or last reset. A call is a request
// for a chat completion or for embeddings, and ends in exactly one way: Calls is the sum
// of InFlight, Completed and all the other endings.
type Stats struct {
	Vendor string `json:"vendor"`
	Quota  int    `json:"quota"`

	// InFlight counts from the arrival of a request's head until its last byte is written
	// or its client has left. Calls that are about to be refused count too, so MaxInFlight
	// above Quota shows by how much a caller went beyond its contract.
	InFlight    int `json:"in_flight"`
	MaxInFlight int `json:"max_in_flight"`

	Calls     int `json:"calls"`
	Completed int `json:"completed"` // answered well
	Refused   int `json:"refused"`   // above the quota: 429
	Cancelled int `json:"cancelled"` // the client left before the end
	Errors    int `json:"errors"`    // ended by ErrorShare or StreamErrorShare
	Dropped   int `json:"dropped"`   // connection reset by RefuseShare
	Truncated int `json:"truncated"` // broken off by TruncateShare
	Garbage   int `json:"garbage"`   // spoilt by GarbageShare
	Invalid   int `json:"invalid"`   // the caller's mistake: 400, 401, 413

	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// outcome is how a call ended.
type outcome int

const (
	cancelled outcome = iota
	completed
	refused
	failed
	dropped
	truncated
	garbled
	invalid
	outcomes // how many there are
)

// meter counts exactly: every change is made under its lock, none is sampled.
type meter struct {
	mu          sync.Mutex
	calls       int
	inFlight    int
	maxInFlight int
	admitted    int
	ends        [outcomes]int
	tokens      Usage
}

// passage is one call's way through the vendor. It belongs to one goroutine.
type passage struct {
	m        *meter
	admitted bool
	left     bool
}

func (m *meter) enter() *passage {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	m.inFlight++
	m.maxInFlight = max(m.maxInFlight, m.inFlight)
	return &passage{m: m}
}

// admit takes a place within the quota, 0 being none, and reports whether there was one.
func (p *passage) admit(quota int) bool {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	if quota > 0 && p.m.admitted >= quota {
		return false
	}
	p.m.admitted++
	p.admitted = true
	return true
}

// leave ends the call; only the first leave counts. It must come before the call's last
// byte is handed to the connection: a client that has seen the end may call again at
// once, and its next call must find the place free.
func (p *passage) leave(o outcome, u Usage) {
	if p.left {
		return
	}
	p.left = true
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.m.inFlight--
	if p.admitted {
		p.m.admitted--
	}
	p.m.ends[o]++
	p.m.tokens.PromptTokens += u.PromptTokens
	p.m.tokens.CompletionTokens += u.CompletionTokens
}

func (m *meter) read() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Stats{
		InFlight: m.inFlight, MaxInFlight: m.maxInFlight, Calls: m.calls,
		Completed: m.ends[completed], Refused: m.ends[refused], Cancelled: m.ends[cancelled],
		Errors: m.ends[failed], Dropped: m.ends[dropped], Truncated: m.ends[truncated],
		Garbage: m.ends[garbled], Invalid: m.ends[invalid],
		PromptTokens: m.tokens.PromptTokens, CompletionTokens: m.tokens.CompletionTokens,
	}
}

// reset forgets what has ended; calls in flight stay.
func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls, m.maxInFlight = m.inFlight, m.inFlight
	m.ends, m.tokens = [outcomes]int{}, Usage{}
}
