package rules

import (
	"slices"
	"strings"
)

// unknown notes that a key has no place here, and which one may have been meant.
func (d *document) unknown(path, key string, known []string) {
	if len(d.faults) >= maxFaults {
		return
	}
	slices.Sort(known)
	best, least := "", 1<<30
	for _, k := range known {
		if far := distance(key, k); far < least {
			best, least = k, far
		}
	}
	if least <= max(2, len(best)/2) {
		d.fault(path, "is not a known key; did you mean %q?", best)
		return
	}
	d.fault(path, "is not a known key; known here: %s", strings.Join(known, ", "))
}

// distance counts the single characters to insert, delete, replace or swap with a
// neighbour. Beyond 40 characters nothing is near.
func distance(a, b string) int {
	s, t := []rune(strings.ToLower(a)), []rune(b)
	if len(s) > 40 {
		return len(s)
	}
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			least := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				least = min(least, rows[i-2][j-2]+1)
			}
			rows[i][j] = least
		}
	}
	return rows[len(s)][len(t)]
}
