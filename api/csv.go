package api

import "strings"

// cell makes any text safe as a cell of a table: one that a spreadsheet would take for a
// formula begins with an apostrophe, which it shows as text.
func cell(s string) string {
	trimmed := strings.TrimLeft(s, " \t\r\n\u00a0\u3000\ufeff")
	if trimmed == "" {
		return s
	}
	if s[0] == '\t' || s[0] == '\r' || s[0] == '\n' || strings.ContainsAny(firstRune(trimmed), "=+-@＝＋－＠") {
		return "'" + s
	}
	return s
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}
