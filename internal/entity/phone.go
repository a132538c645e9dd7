package entity

import (
	"strings"
	"unicode/utf8"

	"sluice/internal/chat"
)

// isPhone judges a number without a plus. called: it is called an order or a parcel.
func (s *scan) isPhone(number string, groups []group, near cue, called bool) bool {
	n, many := len(number), len(groups) > 1
	switch {
	case len(groups) > 5 || n > 15:
		return false
	case isMobile(number):
		return true
	case (n == 13 && strings.HasPrefix(number, "86") || n == 15 && strings.HasPrefix(number, "0086")) && isMobile(number[n-11:]):
		return !called
	case number[0] == '0':
		return !called && (near == cuePhone || isLandLine(number, groups))
	case n == 10 && (strings.HasPrefix(number, "400") || strings.HasPrefix(number, "800")) && many:
		return true
	case isAmerican(number, groups) || s.isBracketed(number, groups):
		return true
	case n == 10 && !many && number[0] >= '2' && number[3] >= '2' && (near == cueOwn || mine(s.text[groups[0].end:])):
		return !called
	}
	return near == cuePhone && !called && groups[0].end-groups[0].start >= 2
}

// mine reports whether what follows a number calls it its writer's phone.
func mine(after string) bool {
	after = strings.ToLower(strings.TrimLeft(after[:min(len(after), 40)], " ,"))
	for _, says := range [...]string{"is my number", "is my phone", "is my cell", "is my mobile", "is my telephone", "is the number to call", "is a good number", "(mobile", "(cell", "(phone"} {
		if strings.HasPrefix(after, says) {
			return true
		}
	}
	return false
}

// isMobile tells a Chinese mobile phone.
func isMobile(number string) bool {
	return len(number) == 11 && number[0] == '1' && number[1] >= '3' && number[1] <= '9'
}

// isLandLine tells numbers that begin with an area code: 010 and 02x have three digits,
// the others four. A number in groups may be of another country that writes the 0.
func isLandLine(number string, groups []group) bool {
	n, area := len(number), 4
	if number[1] == '1' || number[1] == '2' {
		area = 3
	}
	if number[1] == '0' {
		return false
	}
	if len(groups) == 1 {
		return n-area == 7 || n-area == 8
	}
	first := groups[0].end - groups[0].start
	return first == area && n-area >= 5 && n-area <= 8 || first >= 3 && n >= 10 && n <= 11
}

// isAmerican tells 415-555-2671, with or without the 1 before it.
func isAmerican(number string, groups []group) bool {
	switch shape(groups) {
	case "1 3 3 4":
		number = number[1:]
	case "3 3 4":
	default:
		return false
	}
	return number[0] >= '2' && number[3] >= '2'
}

// isBracketed tells (415)5552671: an area in brackets, and the rest in one group.
func (s *scan) isBracketed(number string, groups []group) bool {
	if shape(groups) != "3 7" || number[0] < '2' || number[3] < '2' {
		return false
	}
	area := groups[0]
	return strings.HasSuffix(s.text[:area.start], "(") && strings.HasPrefix(s.text[area.end:], ")") ||
		strings.HasSuffix(s.text[:area.start], "（") && strings.HasPrefix(s.text[area.end:], "）")
}

// spoken takes a mobile phone in Chinese numerals that begins at i and returns its end, or 0.
func (s *scan) spoken(i int) int {
	number, end := make([]byte, 0, 12), i
	for end < len(s.text) && len(number) < 12 {
		r, size := utf8.DecodeRuneInString(s.text[end:])
		d, _ := numeralOf(r)
		if r == '幺' {
			d = 1
		}
		if r == ' ' || r == '-' {
			d = -2
		}
		if d == -1 || d == -2 && len(number) == 0 {
			break
		}
		if d >= 0 {
			number = append(number, '0'+byte(d))
		}
		end += size
	}
	if !isMobile(string(number)) {
		return 0
	}
	for s.text[end-1] == ' ' || s.text[end-1] == '-' {
		end--
	}
	return s.add(chat.EntityPhone, string(number), i, end)
}

// phoneSign takes a number that begins with a plus or a parenthesis.
func (s *scan) phoneSign(i int) int {
	start, plus := i, false
	for i < len(s.text) && !digit(s.text[i]) {
		plus = plus || s.text[i] == '+'
		if i++; i-start > 2 {
			return start + 1
		}
	}
	if i == len(s.text) || alphanumeric(s.text, i) > digits(s.text, i) {
		return start + 1
	}
	groups := groupsAt(s.text, i)
	for n := len(groups); n > 0 && length(groups[:n]) >= 7; n-- {
		number := join(s.text, groups[:n])
		if plus && isInternational(number) || !plus && s.isPhone(number, groups[:n], s.near(i), false) {
			if plus {
				number = "+" + number
			}
			return s.add(chat.EntityPhone, number, start, groups[n-1].end)
		}
	}
	return start + 1
}

// isInternational judges the digits after a plus.
func isInternational(number string) bool {
	n := len(number)
	switch {
	case number[n-1] == 'X':
		return false
	case strings.HasPrefix(number, "86"):
		return isMobile(number[2:]) || n >= 11 && n <= 14 && number[2] != '1'
	case number[0] == '1':
		return n == 11
	}
	return n >= 8 && n <= 15
}
