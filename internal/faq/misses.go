package faq

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// MaxMisses bounds how many different questions are kept.
const MaxMisses = 1_000

// Miss is a question that no entry answered, for an operator to make one of.
type Miss struct {
	Text     string    `json:"text"` // as it was first asked, no longer than a phrasing may be
	Language string    `json:"language"`
	Count    int       `json:"count"`
	Offered  int       `json:"offered"` // of them, how often entries were offered
	Nearest  string    `json:"nearest"` // id of the entry that came nearest when it was last asked
	LastAt   time.Time `json:"last_at"`
}

// Misses counts the questions that were not answered. When there are too many different
// ones, the rarest makes room, of the rarest the one not asked for the longest time. It
// is safe for concurrent use. What it keeps is customers' text: whoever reports to it has
// masked that first.
type Misses struct {
	mu  sync.Mutex
	all map[string]*Miss // by plain text
}

// NewMisses makes an empty list.
func NewMisses() *Misses { return &Misses{all: map[string]*Miss{}} }

// Add counts a question that the base matched, unless it was answered.
func (m *Misses) Add(b *Base, text, language string, got Match, now time.Time) {
	if got.Tier == Answer {
		return
	}
	text = string([]rune(text)[:min(MaxQuestion, len([]rune(text)))])
	plain := b.vocabulary.plain(text)
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.all[plain]
	if one == nil {
		if len(m.all) >= MaxMisses {
			m.forget()
		}
		one = &Miss{Text: text, Language: language}
		m.all[plain] = one
	}
	one.Count++
	if got.Tier == Offer {
		one.Offered++
	}
	one.Nearest, one.LastAt = got.Entry, now
}

// forget makes room for one.
func (m *Misses) forget() {
	var rarest string
	for plain, miss := range m.all {
		if old := m.all[rarest]; old == nil || compareMisses(miss, old) > 0 {
			rarest = plain
		}
	}
	delete(m.all, rarest)
}

// compareMisses puts the frequent and the recent ones first.
func compareMisses(a, b *Miss) int {
	return cmp.Or(b.Count-a.Count, b.LastAt.Compare(a.LastAt), cmp.Compare(a.Text, b.Text))
}

// List returns the most frequent ones, at most n.
func (m *Misses) List(n int) []Miss {
	m.mu.Lock()
	defer m.mu.Unlock()
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

// Settle takes a question off the list: it is an entry now, or needs none.
func (m *Misses) Settle(b *Base, text string) {
	plain := b.vocabulary.plain(text)
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, plain)
}
