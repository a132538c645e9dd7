package intent

import "slices"

// automaton finds many words in one pass over a text (Aho and Corasick). States are
// few, so every step is one look into a table.
type automaton struct {
	class [256]uint16 // of a byte: 0 for those in no word
	width int32       // number of classes
	next  []int32     // state × width + class → state
	rules [][]int32   // which rules have a word that ends at the state

	trie []map[byte]int32 // until build
}

// maxStates bounds the table at 20 MB, usually 8. Words beyond it are not taken.
const maxStates = 20_000

func newAutomaton() *automaton {
	return &automaton{trie: []map[byte]int32{{}}, rules: [][]int32{nil}}
}

// add makes the words lead to the rule, or takes none and returns false.
func (a *automaton) add(words []string, rule int) bool {
	total := 0
	for _, w := range words {
		total += len(w)
	}
	if len(a.trie)+total > maxStates {
		return false
	}
	for _, w := range words {
		state := int32(0)
		for i := range len(w) {
			to, ok := a.trie[state][w[i]]
			if !ok {
				to = int32(len(a.trie))
				a.trie = append(a.trie, map[byte]int32{})
				a.rules = append(a.rules, nil)
				a.trie[state][w[i]] = to
			}
			state = to
		}
		a.rules[state] = append(a.rules[state], int32(rule))
	}
	return true
}

// build turns the trie into the table. No words may be added after it.
func (a *automaton) build() {
	a.width = 1
	for _, edges := range a.trie {
		for b := range edges {
			if a.class[b] == 0 {
				a.class[b] = uint16(a.width)
				a.width++
			}
		}
	}
	a.next = make([]int32, int32(len(a.trie))*a.width)
	fails := make([]int32, len(a.trie))
	queue := []int32{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		fail := fails[state]
		row := a.next[state*a.width : (state+1)*a.width]
		if state != 0 {
			copy(row, a.next[fail*a.width:(fail+1)*a.width])
			a.rules[state] = append(a.rules[state], a.rules[fail]...)
		}
		for b, to := range a.trie[state] {
			fails[to] = row[a.class[b]] // where the shorter suffix would go; the root from the root
			row[a.class[b]] = to
			queue = append(queue, to)
		}
	}
	for i, ids := range a.rules {
		slices.Sort(ids)
		a.rules[i] = slices.Compact(ids)
	}
	a.trie = nil
}

// span is where the first and the last word of a rule end, in bytes; 0 for none.
type span struct{ first, last int }

// scan returns for each of n rules where its words were seen.
func (a *automaton) scan(text string, n int) []span {
	seen := make([]span, n)
	state := int32(0)
	for i := range len(text) {
		state = a.next[state*a.width+int32(a.class[text[i]])]
		for _, rule := range a.rules[state] {
			if seen[rule].first == 0 {
				seen[rule].first = i + 1
			}
			seen[rule].last = i + 1
		}
	}
	return seen
}
