package entity

import (
	"strings"

	"sluice/internal/chat"
)

// personal returns what a chain of digits tells of a person: Card, Paper or a phone;
// empty: nothing.
func (s *scan) personal(groups []group, near cue) chat.EntityKind {
	n, at := length(groups), groups[0].start
	if n < 7 || n > 19 {
		return ""
	}
	number := join(s.text, groups)
	// A number that is called an order or a parcel is one, unless it is written as no such
	// number is.
	called := len(groups) == 1 && s.firm(at, cueOrder, cueTracking, cueParcel)
	switch {
	case n == 18 && (isPaper(number) || near == cuePaper && !called):
		return Paper
	case number[n-1] == 'X':
		return ""
	case n == 15 && !called && len(groups) == 1 && (isOldPaper(number) || near == cuePaper):
		return Paper
	case len(groups) == 3 && shape(groups) == "3 2 4" && s.text[groups[0].end] == '-':
		return Paper // of the United States
	case s.isPhone(number, groups, near, called):
		return chat.EntityPhone
	case n < 13 || called:
		return ""
	case near == cueCard && !strings.HasPrefix(number, "0"), isCard(number) && cardShape(groups):
		return Card
	}
	return ""
}

// shape tells the lengths of groups.
func shape(groups []group) string {
	b := make([]byte, 0, 2*maxGroups)
	for i, g := range groups {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, '0'+byte(min(9, g.end-g.start)))
	}
	return string(b)
}

// cardShape tells groups that cards are written in: of four, or one as a whole, or as
// American Express does, or six and the rest.
func cardShape(groups []group) bool {
	if len(groups) == 1 {
		return true
	}
	s := shape(groups)
	return strings.HasPrefix(s, "4 4 4") || strings.HasPrefix(s, "4 6 ") || strings.HasPrefix(s, "6 ")
}

// isCard applies the check of Luhn to a number whose beginning banks have.
func isCard(number string) bool {
	if number[0] < '2' || number[0] > '6' && number[0] != '9' {
		return false
	}
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// isPaper applies the check of GB 11643 to the 18 signs of an identity card.
func isPaper(number string) bool {
	weights := [17]int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2}
	sum := 0
	for i, w := range weights {
		if !digit(number[i]) {
			return false
		}
		sum += w * int(number[i]-'0')
	}
	return number[17] == "10X98765432"[sum%11] && number[0] >= '1' && number[0] <= '9' && born(number[6:14])
}

// isOldPaper tells the 15 digits of an identity card from before 1999, which has no check.
func isOldPaper(number string) bool {
	return number[0] >= '1' && number[0] <= '8' && number[0] != '7' && digit(number[14]) && born("19"+number[6:12])
}

// born reports whether yyyymmdd may be a birthday.
func born(date string) bool {
	century := date[:2]
	return (century == "19" || century == "20") && day(valueOf(date[4:6]), valueOf(date[6:8]))
}

// day reports whether there is such a day in a year.
func day(month, day int) bool { return month >= 1 && month <= 12 && day >= 1 && day <= 31 }

// valueOf reads a few digits.
func valueOf(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}
