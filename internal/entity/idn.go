package entity

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/chat"
)

// maxHanLocal is how many Chinese characters a mail address has before its sign at most:
// Chinese has no blanks, so a longer one would take the sentence before it along.
const maxHanLocal = 4

// hanTops are the endings of domains in Chinese.
var hanTops = []string{
	"公司", "中国", "中國", "网络", "網絡", "网址", "商城", "香港", "台湾", "台灣", "集团", "在线", "中文网", "网店", "企业", "商标", "商店", "手机", "信息", "我爱你", "政务", "公益", "佛山", "广东",
}

// wideMail takes a mail address whose sign is at i and that holds letters beyond ASCII, and
// returns its end, or 0.
func (s *scan) wideMail(i int) int {
	start, end := s.localBefore(i), domainAfter(s.text, i+1)
	if start == i || end == 0 {
		return 0
	}
	return s.add(chat.EntityMail, strings.ToLower(s.text[start:end]), start, end)
}

// localBefore returns where the part before the sign begins; i: there is none.
func (s *scan) localBefore(i int) int {
	least := max(0, i-maxLocal)
	if n := len(s.found); n > 0 {
		least = max(least, s.found[n-1].End)
	}
	start, han := i, 0
	for start > least {
		r, size := utf8.DecodeLastRuneInString(s.text[:start])
		isHan := unicode.Is(unicode.Han, r)
		ascii := r < utf8.RuneSelf && local(byte(r))
		if start-size < least || !isHan && !ascii && (r < utf8.RuneSelf || !unicode.IsLetter(r)) || isHan && (han == maxHanLocal || strings.ContainsRune("是为為箱址到给給", r)) {
			break
		}
		if isHan {
			han++
		}
		start -= size
	}
	return start
}

// domainAfter returns where the domain ends that begins at i; 0: there is none.
func domainAfter(text string, i int) int {
	end, label := i, i // of what was read; where its last label begins
	wide := false
	for end < len(text) && end-i < maxDomain {
		r, size := utf8.DecodeRuneInString(text[end:])
		if r == '.' && end > label {
			label = end + 1
		} else if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) || r == utf8.RuneError {
			break
		}
		wide = wide || r >= utf8.RuneSelf
		end += size
	}
	top := text[min(label, end):end]
	if label == i || !wide || utf8.RuneCountInString(top) < 2 {
		return 0
	}
	if r, _ := utf8.DecodeRuneInString(top); unicode.Is(unicode.Han, r) {
		known := slices.IndexFunc(hanTops, func(t string) bool { return strings.HasPrefix(top, t) })
		if known < 0 {
			return 0
		}
		return label + len(hanTops[known])
	}
	return end
}
