package entity

import (
	"strings"

	"sluice/internal/chat"
)

// figure reads a number as money has it: 1,299.50. It returns the plain digits and where
// they end; 0: there is none.
func figure(text string, i int) (string, int) {
	end := digits(text, i)
	if end == i || end-i > 9 {
		return "", 0
	}
	for end+3 < len(text) && text[end] == ',' && digits(text, end+1) == end+4 {
		end += 4
	}
	if end+1 < len(text) && text[end] == '.' && digit(text[end+1]) {
		cents := digits(text, end+1)
		if cents-end > 3 {
			return "", 0
		}
		end = cents
	}
	return strings.ReplaceAll(text[i:end], ",", ""), end
}

// units of money behind a figure. Of words in letters none may go on.
var units = []string{
	"元", "块钱", "塊錢", "块", "塊", "圆", "圓", "万元", "万块", "美元", "美金", "刀", "欧元", "英镑", "港币", "港元", "人民币", "大洋",
	"rmb", "cny", "yuan", "usd", "dollars", "dollar", "bucks", "buck", "euros", "euro", "eur", "pounds", "gbp", "quid", "hkd", "kuai", "$", "€",
}

// unit returns where a unit of money ends that begins at i, and which it is; 0: none does.
func unit(text string, i int) (string, int) {
	if i >= len(text) || text[i] < '$' || digit(text[i]) || text[i] == '-' || text[i] == '.' {
		return "", 0
	}
	for _, u := range units {
		end := i + len(u)
		if end > len(text) || text[i]|0x20 != u[0]|0x20 || !strings.EqualFold(text[i:end], u) {
			continue
		}
		if letter(u[0]) && end < len(text) && letter(text[end]) {
			continue
		}
		return u, end
	}
	return "", 0
}

// amount reads a sum of money that begins with a digit.
func amount(text string, i int) (string, int) {
	value, end := figure(text, i)
	if end == 0 {
		return "", 0
	}
	at := blanks(text, end)
	if strings.HasPrefix(text[at:], "多") {
		at += len("多")
	}
	u, to := unit(text, at)
	switch {
	case to == 0 || isPiece(u) && len(value) == 1 && pieces(text[to:]):
		return "", 0
	case strings.HasPrefix(u, "万"):
		value += "0000"
	}
	return value, to
}

// isPiece tells the word for money that is the word for a piece as well.
func isPiece(unit string) bool { return unit == "块" || unit == "塊" }

// pieces reports whether what follows a small number of 块 are things, not the end of a
// sum: three pieces of cake.
func pieces(after string) bool {
	if after == "" {
		return false
	}
	for _, of := range [...]string{"钱", "的", "了", "多", "吧", "吗", "左右", "以", "给", "退", "就", "都", "怎", "啊", "呢", "运", "优", "券", "红包", "到", "补", "差", "也", "不", "还"} {
		if strings.HasPrefix(after, of) {
			return false
		}
	}
	first := after[0]
	return first >= 0xe4 && first <= 0xe9 || letter(first)
}

// numerals takes a sum or a date in Chinese numerals that begins at i, or returns 0.
func (s *scan) numerals(i int) int {
	value, end := numeral(s.text, i)
	if end == 0 {
		return 0
	}
	if month, rest := value, s.text[end:]; strings.HasPrefix(rest, "月") && month <= 12 {
		at := end + len("月")
		d, to := numeral(s.text, at)
		if to == 0 {
			if to = digits(s.text, at); to > at && to-at <= 2 {
				d = valueOf(s.text[at:to])
			}
		}
		if mark := dayMark(s.text, to); mark > 0 && day(month, d) {
			return s.add(chat.EntityDate, monthDay(month, d), i, mark)
		}
		return end
	}
	at := end
	if strings.HasPrefix(s.text[at:], "多") || strings.HasPrefix(s.text[at:], "几") {
		at += 3
	}
	u, to := unit(s.text, at)
	if to == 0 {
		return end
	}
	if isPiece(u) {
		if half, after := numeral(s.text, to); after > 0 && half < 10 && half > 0 { // 两块五
			return s.add(chat.EntityAmount, itoa(value)+"."+itoa(half), i, after)
		}
		if value < 10 && pieces(s.text[to:]) || value == 1 && !strings.HasPrefix(s.text[to:], "钱") {
			return end
		}
	}
	if strings.HasPrefix(u, "万") {
		value *= 10_000
	}
	return s.add(chat.EntityAmount, itoa(value), i, to)
}
