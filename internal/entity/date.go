package entity

import (
	"fmt"
	"strings"

	"sluice/internal/chat"
)

// date reads a day that begins with a digit: 2026-11-28, 2026年11月28日, 11/28, 11月28号,
// 28 Nov 2026. It returns the day as 2026-11-28 or 11-28.
func date(text string, i int) (string, int) {
	end := digits(text, i)
	first := text[i:end]
	switch n := len(first); {
	case n == 4 && (first[:2] == "19" || first[:2] == "20"):
		return fullDate(text, first, end)
	case n > 2:
		return "", 0
	}
	if m, rest := valueOf(first), text[end:]; strings.HasPrefix(rest, "月") {
		d, to := dayAt(text, end+len("月"))
		if mark := dayMark(text, to); mark > 0 && day(m, d) {
			return monthDay(m, d), mark
		}
	} else if strings.HasPrefix(rest, "/") {
		return slashed(text, m, end+1)
	}
	return dayFirst(text, valueOf(first), end)
}

// fullDate reads what follows a year.
func fullDate(text, year string, i int) (string, int) {
	sep := ""
	for _, s := range [...]string{"-", "/", ".", "年"} {
		if strings.HasPrefix(text[i:], s) {
			sep = s
		}
	}
	if sep == "" {
		return "", 0
	}
	m, end := dayAt(text, i+len(sep))
	if sep == "年" {
		sep = "月"
	}
	if end == 0 || !strings.HasPrefix(text[end:], sep) {
		return "", 0
	}
	d, to := dayAt(text, end+len(sep))
	if to == 0 || !day(m, d) || to < len(text) && digit(text[to]) {
		return "", 0
	}
	if sep == "月" {
		if mark := dayMark(text, to); mark > 0 {
			to = mark
		}
	}
	return year + "-" + monthDay(m, d), to
}

// slashed reads 11/28 and 11/28/2026; the month may come second.
func slashed(text string, m, i int) (string, int) {
	d, end := dayAt(text, i)
	if end == 0 || end < len(text) && (digit(text[end]) || letter(text[end]) || text[end] == '.') {
		return "", 0
	}
	if m > 12 && m <= 31 && d <= 12 {
		m, d = d, m
	}
	if !day(m, d) || m < 3 && d < 6 || m == 7 && d == 24 { // 1/2 is a half, 24/7 is always
		return "", 0
	}
	if end < len(text) && text[end] == '/' {
		to := digits(text, end+1)
		switch to - end - 1 {
		case 2:
			return "20" + text[end+1:to] + "-" + monthDay(m, d), to
		case 4:
			return text[end+1:to] + "-" + monthDay(m, d), to
		}
		return "", 0
	}
	return monthDay(m, d), end
}

// dayAt reads one or two digits.
func dayAt(text string, i int) (int, int) {
	end := digits(text, i)
	if end == i || end-i > 2 {
		return 0, 0
	}
	return valueOf(text[i:end]), end
}

// dayMark returns where the sign of a day ends that begins at i; 0: there is none.
func dayMark(text string, i int) int {
	for _, mark := range [...]string{"日", "号", "號"} {
		if i > 0 && strings.HasPrefix(text[i:], mark) {
			return i + len(mark)
		}
	}
	return 0
}

func monthDay(m, d int) string { return fmt.Sprintf("%02d-%02d", m, d) }

// dayFirst reads 28 Nov, 28th of November 2026.
func dayFirst(text string, d, i int) (string, int) {
	for _, suffix := range [...]string{"st", "nd", "rd", "th"} {
		if strings.HasPrefix(text[i:], suffix) {
			i += len(suffix)
			break
		}
	}
	at := blanks(text, i)
	if strings.HasPrefix(text[at:], "of ") {
		at += len("of ")
	}
	end := at
	for end < len(text) && letter(text[end]) && end-at < 10 {
		end++
	}
	m := months[strings.ToLower(text[at:end])]
	if m == 0 || !day(m, d) || at == i {
		return "", 0
	}
	return withYear(text, monthDay(m, d), end)
}

var months = map[string]int{
	"jan": 1, "january": 1, "feb": 2, "february": 2, "mar": 3, "march": 3, "apr": 4, "april": 4, "may": 5, "jun": 6, "june": 6, "jul": 7, "july": 7,
	"aug": 8, "august": 8, "sep": 9, "sept": 9, "september": 9, "oct": 10, "october": 10, "nov": 11, "november": 11, "dec": 12, "december": 12,
}

// weekdays and other words that are days.
var days = map[string]bool{
	"today": true, "yesterday": true, "tomorrow": true, "tonight": true, "monday": true, "tuesday": true, "wednesday": true, "thursday": true,
	"friday": true, "saturday": true, "sunday": true,
}

// named reads a day that begins with the word text[i:end]: November 28th, last Monday,
// yesterday.
func named(text, word string, i, end int) (string, int) {
	at := blanks(text, end)
	if m := months[word]; m > 0 {
		if end < len(text) && text[end] == '.' {
			at = blanks(text, end+1)
		}
		d, to := dayAt(text, at)
		if to == 0 || at == end || !day(m, d) {
			return "", 0
		}
		for _, suffix := range [...]string{"st", "nd", "rd", "th"} {
			if strings.HasPrefix(text[to:], suffix) {
				to += len(suffix)
				break
			}
		}
		return withYear(text, monthDay(m, d), to)
	}
	if days[word] {
		return word, end
	}
	if word != "last" && word != "next" && word != "this" || at == end {
		return "", 0
	}
	to := at
	for to < len(text) && letter(text[to]) && to-at < 10 {
		to++
	}
	what := strings.ToLower(text[at:to])
	if days[what] || what == "week" || what == "month" || what == "night" || what == "weekend" {
		return word + " " + what, to
	}
	return "", 0
}

// withYear adds a year that follows a day.
func withYear(text, day string, i int) (string, int) {
	at := i
	if strings.HasPrefix(text[at:], ",") {
		at++
	}
	at = blanks(text, at)
	if end := digits(text, at); end-at == 4 && at > i && (text[at:at+2] == "20" || text[at:at+2] == "19") {
		return text[at:end] + "-" + day, end
	}
	return day, i
}

// han takes a Han character: a word that says what numbers mean, a sum or a day in words.
func (s *scan) han(i int) int {
	if !marked(s.text, i) && (s.cue == cueNone || i-s.cueEnd > 1) {
		return i + 3
	}
	if end := s.heedHan(i); end > 0 {
		return end
	}
	if end := s.spoken(i); end > 0 {
		return end
	}
	if end := s.numerals(i); end > 0 {
		return end
	}
	if end := relative(s.text, i); end > 0 {
		return s.add(chat.EntityDate, s.text[i:end], i, end)
	}
	return i + 3
}

// relatives are days in words by their first character, longer ones first.
var relatives = map[string][]string{
	"今": {"今天", "今晚", "今早", "今日"}, "昨": {"昨天", "昨晚", "昨日"}, "明": {"明天", "明早", "明晚", "明日"},
	"前": {"前天", "前晚"}, "后": {"后天"}, "後": {"後天"}, "大": {"大前天", "大后天", "大後天"},
	"上": {"上个星期", "上个礼拜", "上礼拜", "上星期", "上周", "上週", "上个月", "上個月", "上月"},
	"下": {"下个星期", "下个礼拜", "下礼拜", "下星期", "下周", "下週", "下个月", "下個月", "下月"},
	"这": {"这个星期", "这个礼拜", "这礼拜", "这星期", "这周", "这个月"}, "這": {"這個星期", "這禮拜", "這週", "這個月"},
	"本": {"本周", "本週", "本月"}, "周": {"周"}, "週": {"週"}, "星": {"星期"}, "礼": {"礼拜"}, "禮": {"禮拜"},
}

// relative returns where a day in Chinese words ends that begins at i; 0: none does.
func relative(text string, i int) int {
	for _, word := range relatives[text[i:i+3]] {
		if !strings.HasPrefix(text[i:], word) {
			continue
		}
		end := i + len(word)
		if strings.HasSuffix(word, "月") {
			if _, to := dayAt(text, end); to > 0 {
				end = max(end, dayMark(text, to))
			}
			return end
		}
		if strings.HasSuffix(word, "周") || strings.HasSuffix(word, "週") || strings.HasSuffix(word, "期") || strings.HasSuffix(word, "拜") {
			for _, d := range [...]string{"一", "二", "三", "四", "五", "六", "日", "天", "末"} {
				if strings.HasPrefix(text[end:], d) {
					return end + len(d)
				}
			}
			if len(word) <= 3 || word == "星期" || word == "礼拜" || word == "禮拜" {
				return 0 // no day is named
			}
		}
		return end
	}
	return 0
}
