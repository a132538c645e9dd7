package entity

import (
	"strconv"
	"unicode/utf8"
)

// numeral reads a number in Chinese numerals, below a hundred million, and returns where
// it ends; 0: there is none. Digits in a row (二零二六) are read as they stand.
func numeral(text string, i int) (value, end int) {
	total, section, now, count := 0, 0, -1, 0
	for count < 12 {
		r, size := utf8.DecodeRuneInString(text[i:])
		d, weight := numeralOf(r)
		switch {
		case weight == 10_000:
			total = (total + section + max(now, 0)) * weight
			section, now = 0, -1
		case weight > 0:
			if now < 0 {
				now = 1 // 十 alone is ten
			}
			section, now = section+now*weight, -1
		case d >= 0 && now >= 0 && section == 0 && total == 0:
			now = now*10 + d
		case d >= 0:
			now = d
		default:
			size = 0
		}
		if size == 0 {
			break
		}
		i += size
		count++
	}
	if count == 0 {
		return 0, 0
	}
	return min(total+section+max(now, 0), 99_999_999), i
}

// numeralOf returns a digit, or else the weight of a numeral; -1 and 0: r is none.
func numeralOf(r rune) (digit, weight int) {
	switch r {
	case '零', '〇':
		return 0, 0
	case '一', '壹':
		return 1, 0
	case '二', '两', '兩', '贰':
		return 2, 0
	case '三', '叁':
		return 3, 0
	case '四', '肆':
		return 4, 0
	case '五', '伍':
		return 5, 0
	case '六', '陆':
		return 6, 0
	case '七', '柒':
		return 7, 0
	case '八', '捌':
		return 8, 0
	case '九', '玖':
		return 9, 0
	case '十', '拾':
		return -1, 10
	case '百', '佰':
		return -1, 100
	case '千', '仟':
		return -1, 1000
	case '万', '萬':
		return -1, 10_000
	}
	return -1, 0
}

func itoa(n int) string { return strconv.Itoa(n) }
