package entity

import "strings"

// group is some digits in a row; the last group of a chain may end with an X, as the
// numbers of identity cards do.
type group struct{ start, end int }

// Bounds of a chain: beyond them it is no number that people write down.
const (
	maxGroups = 6
	maxDigits = 24
)

// groupsAt returns the groups from i on that a blank, a dash, a point, a slash, or one of
// these and a parenthesis parts. The first one is always there, however long it is; at most one of
// them is a single digit.
func groupsAt(text string, i int) []group {
	groups := make([]group, 0, maxGroups)
	for total, single := 0, 0; len(groups) < maxGroups; {
		end := digits(text, i)
		if end == i+1 {
			single++
		}
		if total += end - i; len(groups) > 0 && (total > maxDigits || single > 1) {
			break
		}
		if end < len(text) && letter(text[end]) {
			if text[end]|0x20 != 'x' || alphanumeric(text, end) > end+1 {
				break // the digits belong to a word
			}
			return append(groups, group{i, end + 1})
		}
		groups = append(groups, group{i, end})
		next := end
		for next < len(text) && next-end < 2 && strings.IndexByte(" -.()/", text[next]) >= 0 {
			next++
		}
		if next == end || next == len(text) || !digit(text[next]) {
			break
		}
		i = next
	}
	return groups
}

// length is how many digits groups have together.
func length(groups []group) int {
	n := 0
	for _, g := range groups {
		n += g.end - g.start
	}
	return n
}

func join(text string, groups []group) string {
	if len(groups) == 1 {
		return strings.ToUpper(text[groups[0].start:groups[0].end])
	}
	var b strings.Builder
	for _, g := range groups {
		b.WriteString(text[g.start:g.end])
	}
	return strings.ToUpper(b.String())
}
