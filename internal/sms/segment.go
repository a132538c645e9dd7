package sms

import (
	"strings"
	"unicode/utf16"
)

// Encoding is how the phone networks carry a text.
type Encoding string

// The encodings. A text that has one letter outside of GSM-7 goes as UCS-2.
const (
	GSM7 Encoding = "GSM-7"
	UCS2 Encoding = "UCS-2"
)

// What a segment holds, in septets and in units of 16 bits: a text of one segment, and
// each segment of a longer text, whose head takes the rest (3GPP TS 23.040).
const (
	oneGSM7, manyGSM7 = 160, 153
	oneUCS2, manyUCS2 = 70, 67
)

// The alphabet of GSM-7 (3GPP TS 23.038), without the escape, and its extension, whose
// letters take two septets.
const (
	basic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	extension = "\f^{}\\[~]|€"
)

// Split returns the segments of a text, as the networks carry it, and their encoding.
// Neither a letter of the extension nor a pair of surrogates is cut in two, so a segment
// may stay a unit short. An empty text is one empty segment.
func Split(text string) ([]string, Encoding) {
	encoding, one, many, size := UCS2, oneUCS2, manyUCS2, ucs2Size
	if isGSM7(text) {
		encoding, one, many, size = GSM7, oneGSM7, manyGSM7, gsm7Size
	}
	total := 0
	for _, r := range text {
		total += size(r)
	}
	if total <= one {
		return []string{text}, encoding
	}
	var all []string
	start, used := 0, 0
	for i, r := range text {
		if used+size(r) > many {
			all, start, used = append(all, text[start:i]), i, 0
		}
		used += size(r)
	}
	return append(all, text[start:]), encoding
}

// Segments returns how many segments a text takes.
func Segments(text string) int {
	all, _ := Split(text)
	return len(all)
}

func isGSM7(text string) bool {
	for _, r := range text {
		if !strings.ContainsRune(basic, r) && !strings.ContainsRune(extension, r) {
			return false
		}
	}
	return true
}

func gsm7Size(r rune) int {
	if strings.ContainsRune(extension, r) {
		return 2
	}
	return 1
}

func ucs2Size(r rune) int { return max(1, utf16.RuneLen(r)) }
