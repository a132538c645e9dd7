package entity

import (
	"strings"

	"sluice/internal/chat"
)

// maxCode is the longest code of letters and digits.
const maxCode = 40

// word takes what begins with a letter: a mail address, a code, a date, or a word that
// may say what the next number means.
func (s *scan) word(i int) int {
	if end := s.mail(i); end > 0 {
		return end
	}
	if end := s.account(i); end > 0 {
		return end
	}
	end := alphanumeric(s.text, i)
	letters := i
	for letters < end && letter(s.text[letters]) {
		letters++
	}
	if letters < end {
		return s.code(i, end)
	}
	if end-i <= 6 && end+1 < len(s.text) && s.text[end] == '-' && digit(s.text[end+1]) {
		if to := s.dashedCode(i, end); to > 0 {
			return to
		}
	}
	if to := s.spaced(i, end); to > 0 {
		return to
	}
	if end-i > 14 {
		return end
	}
	word := strings.ToLower(s.text[i:end])
	if value, to := named(s.text, word, i, end); to > 0 {
		return s.add(chat.EntityDate, value, i, to)
	}
	s.heed(word, i, end)
	if s.cue == cueAmount && s.cueEnd == end {
		if value, to := figure(s.text, blanks(s.text, end)); to > 0 {
			return s.add(chat.EntityAmount, value, i, to)
		}
	}
	return end
}

// code judges a run of letters and digits.
func (s *scan) code(i, end int) int {
	if end-i > maxCode {
		return end
	}
	code := strings.ToUpper(s.text[i:end])
	numbers, lead := 0, 0
	for k := range len(code) {
		if digit(code[k]) {
			numbers++
		}
		if numbers == 0 {
			lead++
		}
	}
	tail := code[lead:]
	switch near := s.near(i); {
	case numbers < 4:
		return end
	case lead == 0 && numbers == 11 && numeric(code[:11]) && isMobile(code[:11]):
		return s.add(chat.EntityPhone, code[:11], i, i+11)
	case lead == 0 && len(code) == 18 && numbers == 17 && code[17] == 'X' && born(code[6:14]):
		return s.add(Paper, code, i, end)
	case numbers == len(tail) && isMobile(tail) && (lead >= 3 || s.text[i] >= 'a'):
		return s.add(chat.EntityPhone, tail, i+lead, end)
	case lead >= 3 && len(tail) > 11 && numbers == 11 && numeric(tail[:11]) && isMobile(tail[:11]):
		return s.add(chat.EntityPhone, tail[:11], i+lead, i+lead+11)
	case near == cuePaper && lead <= 2 && numbers >= 6 && len(code) >= 7 && len(code) <= 10:
		return s.add(Paper, code, i, end)
	case isTracking(code) && !s.firm(i, cueOrder):
		return s.add(chat.EntityTracking, code, i, end)
	case near == cueTracking && numbers >= 6 && len(code) >= 8:
		return s.add(chat.EntityTracking, code, i, end)
	case lead >= 1 && lead <= 4 && numbers == len(tail) && numbers >= 6 && len(code) <= 24,
		near == cueOrder && len(code) >= 5 && numbers >= 3:
		return s.add(chat.EntityOrder, code, i, end)
	case near == cueParcel && numbers >= 6 && len(code) >= 8:
		return s.add(chat.EntityTracking, code, i, end)
	}
	return end
}

// spaced takes an order such as MH 2611 280 001, whose capitals end at letters, right after
// the word for it, or returns 0.
func (s *scan) spaced(i, letters int) int {
	if !s.firm(i, cueOrder) || s.near(i) != cueOrder || letters-i < 2 || letters-i > 4 || strings.ToUpper(s.text[i:letters]) != s.text[i:letters] ||
		letters+1 >= len(s.text) || s.text[letters] != ' ' || !digit(s.text[letters+1]) {
		return 0
	}
	groups := groupsAt(s.text, letters+1)
	n, total := 0, 0
	for n < len(groups) && total < 6 || n > 0 && n < len(groups) && groups[n].end-groups[n].start <= 4 && total+groups[n].end-groups[n].start <= 14 {
		total += groups[n].end - groups[n].start
		n++
	}
	if number := join(s.text, groups[:n]); total < 6 || total > 20 || !numeric(number) || isMobile(number) {
		return 0
	}
	end := groups[n-1].end
	return s.add(chat.EntityOrder, s.text[i:letters]+join(s.text, groups[:n]), i, end)
}

// isTracking knows the numbers of carriers, in capitals.
func isTracking(code string) bool {
	n := len(code)
	if n == 13 && letters(code[:2]) && letters(code[11:]) && numeric(code[2:11]) {
		return true // of the Universal Postal Union, and EMS
	}
	for _, c := range [...]struct {
		prefix   string
		from, to int // digits after it
	}{{"SF", 12, 15}, {"YT", 13, 15}, {"ZTO", 10, 14}, {"STO", 10, 14}, {"JT", 13, 13}, {"YD", 13, 15}, {"TBA", 12, 12}, {"LP", 14, 14}, {"DPK", 10, 15}} {
		if rest, has := strings.CutPrefix(code, c.prefix); has && numeric(rest) && len(rest) >= c.from && len(rest) <= c.to {
			return true
		}
	}
	if rest, has := strings.CutPrefix(code, "JD"); has {
		return n >= 12 && n <= 20 && numeric(rest[max(0, len(rest)-8):])
	}
	return strings.HasPrefix(code, "1Z") && n == 18
}

func letters(s string) bool {
	for i := range len(s) {
		if !letter(s[i]) {
			return false
		}
	}
	return true
}

func numeric(s string) bool {
	for i := range len(s) {
		if !digit(s[i]) {
			return false
		}
	}
	return s != ""
}

// dashedCode takes an order such as ORD-2026-001234, whose letters end at letters, or
// returns 0.
func (s *scan) dashedCode(i, letters int) int {
	end, numbers := letters, 0
	for end < len(s.text) && end-i <= maxCode && (digit(s.text[end]) || letter(s.text[end]) ||
		s.text[end] == '-' && end+1 < len(s.text) && digit(s.text[end+1])) {
		if digit(s.text[end]) {
			numbers++
		}
		end++
	}
	if isMobile(strings.ReplaceAll(s.text[letters+1:end], "-", "")) {
		return 0
	}
	if numbers < 5 && !(numbers >= 3 && s.near(i) == cueOrder) || end-i > maxCode || strings.ContainsAny(s.text[i:letters], "abcdefghijklmnopqrstuvwxyz") && s.near(i) != cueOrder {
		return 0
	}
	return s.add(chat.EntityOrder, strings.ToUpper(s.text[i:end]), i, end)
}

// dashed returns the end of an order in groups with dashes, or 0.
func dashed(text string, groups []group, near cue) int {
	n, total := 1, groups[0].end-groups[0].start
	for ; n < len(groups) && groups[n].start == groups[n-1].end+1 && text[groups[n-1].end] == '-'; n++ {
		total += groups[n].end - groups[n].start
	}
	if n > 1 && (near == cueOrder && total >= 6 || shape(groups[:n]) == "3 7 7") {
		return groups[n-1].end
	}
	return 0
}
