package sms

import (
	"strings"
	"unicode"
)

// Wish is what a text message from a customer asks for.
type Wish int

// The wishes.
const (
	WishNone  Wish = iota
	WishStop       // no text messages any more
	WishStart      // text messages again
)

var wishes = map[string]Wish{
	"STOP": WishStop, "STOPALL": WishStop, "UNSUBSCRIBE": WishStop, "END": WishStop, "QUIT": WishStop, "REVOKE": WishStop,
	"OPTOUT": WishStop, "CANCEL": WishStop, "退订": WishStop, "退訂": WishStop, "拒收": WishStop, "TD": WishStop, "T": WishStop, "R": WishStop,
	"START": WishStart, "YES": WishStart, "UNSTOP": WishStart,
}

// fullWidth is how far the full-width forms of letters stand from the usual ones.
const fullWidth = 'Ａ' - 'A'

// WishOf reads a text that a customer sent: it must be one of the words and nothing else, in
// whatever case and width, with marks around it or not.
func WishOf(text string) Wish {
	word := strings.Map(func(r rune) rune {
		if r >= 'Ａ' && r <= 'ｚ' {
			r -= fullWidth
		}
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, text)
	return wishes[word]
}
