package entity

import (
	"strings"

	"sluice/internal/chat"
)

// Bounds of a mail address, in bytes.
const (
	maxLocal  = 64
	maxDomain = 200
)

// mail takes a mail address that begins at i and returns its end, or 0.
func (s *scan) mail(i int) int {
	if i < s.noMail {
		return 0
	}
	at := i
	for at < len(s.text) && local(s.text[at]) {
		at++
	}
	if at == len(s.text) || s.text[at] != '@' || at-i > maxLocal {
		s.noMail = at
		if at-i > maxLocal && at < len(s.text) && s.text[at] == '@' {
			s.noMail = at - maxLocal
		}
		return 0
	}
	end := at + 1
	for end < len(s.text) && end-at < maxDomain && (letter(s.text[end]) || digit(s.text[end]) || s.text[end] == '-' || s.text[end] == '.') {
		end++
	}
	domain := strings.TrimRight(s.text[at+1:end], ".-")
	top := domain[strings.LastIndexByte(domain, '.')+1:]
	for len(top) > 0 && !letters(top) { // "a@b.com.2026": the number is not of it
		cut := strings.LastIndexByte(domain, '.')
		if cut < 0 {
			break
		}
		domain = domain[:cut]
		top = domain[strings.LastIndexByte(domain, '.')+1:]
	}
	if len(top) < 2 || len(top) == len(domain) || strings.Contains(domain, "..") || domain[0] == '.' {
		s.noMail = at
		return 0
	}
	end = at + 1 + len(domain)
	return s.add(chat.EntityMail, strings.ToLower(s.text[i:end]), i, end)
}

// local tells what stands before the sign of a mail address.
func local(c byte) bool {
	return digit(c) || letter(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '%'
}
