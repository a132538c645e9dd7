package faq

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Bounds of what is kept of questions without an answer.
const (
	MaxMisses = 1_000 // different ones
	MaxMiss   = 200   // characters of one
)

// Miss is a question that no entry answered, for an operator to make one of.
type Miss struct {
	Key      string    `json:"key"`  // the same for questions that differ in signs and politeness alone
	Text     string    `json:"text"` // as it was first asked, its first MaxMiss characters
	Language string    `json:"language"`
	Count    int       `json:"count"`
	Offered  int       `json:"offered"` // of them, how often entries were offered
	Nearest  string    `json:"nearest"` // id of the entry that came nearest when it was last asked; may be empty
	LastAt   time.Time `json:"last_at"`
}

// Misses counts the questions that were not answered. When there are too many different
// ones, the rarest makes room, of the rarest the one not asked for the longest time. It
// is safe for concurrent use. What it keeps is customers' text: whoever reports to it has
// masked that first.
type Misses struct {
	mu  sync.Mutex
	all map[string]*Miss // by key
}

// NewMisses makes an empty list.
func NewMisses() *Misses { return &Misses{all: map[string]*Miss{}} }

// Add counts a question that the base matched, unless it was answered, or says nothing.
func (m *Misses) Add(b *Base, text, language string, got Match, now time.Time) {
	if got.Tier == Answer {
		return
	}
	plain := b.vocabulary.plain(text)
	if plain == noText {
		return
	}
	hash := sha256.Sum256([]byte(plain))
	one := Miss{
		Key: hex.EncodeToString(hash[:8]), Text: string([]rune(text)[:min(MaxMiss, len([]rune(text)))]), Language: language,
		Count: 1, Nearest: got.Entry, LastAt: now,
	}
	if got.Tier == Offer {
		one.Offered = 1
	}
	m.Merge([]Miss{one})
}

// Merge adds up what somebody else has counted.
func (m *Misses) Merge(others []Miss) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range others {
		one := m.all[other.Key]
		if one == nil {
			if len(m.all) >= MaxMisses {
				m.forget()
			}
			m.all[other.Key] = &other
			continue
		}
		one.Count += other.Count
		one.Offered += other.Offered
		if !other.LastAt.Before(one.LastAt) {
			one.Nearest, one.LastAt = other.Nearest, other.LastAt
		}
	}
}

// forget makes room for one.
func (m *Misses) forget() {
	var rarest string
	for key, miss := range m.all {
		if old := m.all[rarest]; old == nil || compareMisses(miss, old) > 0 {
			rarest = key
		}
	}
	delete(m.all, rarest)
}

// compareMisses puts the frequent and the recent ones first.
func compareMisses(a, b *Miss) int {
	return cmp.Or(b.Count-a.Count, b.LastAt.Compare(a.LastAt), cmp.Compare(a.Key, b.Key))
}

// List returns the most frequent ones, at most n.
func (m *Misses) List(n int) []Miss {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list(n)
}

// Take returns all and forgets them.
func (m *Misses) Take() []Miss {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.list(MaxMisses)
	clear(m.all)
	return all
}

func (m *Misses) list(n int) []Miss {
	order := make([]*Miss, 0, len(m.all))
	for _, miss := range m.all {
		order = append(order, miss)
	}
	slices.SortFunc(order, compareMisses)
	all := make([]Miss, 0, min(n, len(order)))
	for _, miss := range order[:min(n, len(order))] {
		all = append(all, *miss)
	}
	return all
}

// Find returns the miss of a key.
func (m *Misses) Find(key string) (Miss, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.all[key]; one != nil {
		return *one, true
	}
	return Miss{}, false
}

// Settle takes a question off the list: it is an entry now, or needs none.
func (m *Misses) Settle(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}

// missesRoom bounds the document of the misses, in bytes.
const missesRoom = 900_000

// Document is the list as it is stored. Should it be too large, the rarest are left out.
func (m *Misses) Document() ([]byte, error) {
	var doc bytes.Buffer
	encoder := json.NewEncoder(&doc)
	encoder.SetEscapeHTML(false) // three times as long, and of no use here
	for _, one := range m.List(MaxMisses) {
		before := doc.Len()
		if err := encoder.Encode(one); err != nil {
			return nil, fmt.Errorf("encode the missed questions: %w", err)
		}
		if doc.Len() > missesRoom {
			doc.Truncate(before)
			break
		}
	}
	return doc.Bytes(), nil
}

// ReadMisses reads a stored list; nothing is an empty one.
func ReadMisses(doc []byte) (*Misses, error) {
	m := NewMisses()
	for line := range bytes.Lines(doc) {
		var one Miss
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("decode the missed questions: %w", err)
		}
		m.Merge([]Miss{one})
	}
	return m, nil
}
