package mood

import "strings"

// What makes a word mean its opposite, right before it or with a filler between.
var (
	deniesHan   = []string{"不是", "不用", "不要", "不必", "不太", "不算", "不怎么", "并不", "並不", "并没有", "没有", "没", "沒有", "别", "不", "無需", "无需", "不想", "不打算"}
	fillersHan  = []string{"很", "太", "那么", "那麼", "是", "要", "我", "会", "這麼", "这么", "特别", "再", "去", "想", "为了", "来"}
	denies      = []string{"not", "no", "never", "without", "isn't", "wasn't", "don't", "dont", "won't", "not a", "not an", "no need to", "nothing to", "don't want to", "didn't", "aren't", "i'm not", "not here to", "not going to"}
	fillers     = []string{"too", "so", "very", "really", "that", "a", "an", "any", "to", "make", "making", "file", "be", "being", "get", "all", "the", "bit", "at"}
	deniesAfter = []string{"就不用", "就算了", "倒不至于", "谈不上"}
)

// most is how many fillers may stand between.
const most = 3

// denied reports whether what stands before a word, or after it, takes it back.
func denied(before, after string) bool {
	for _, d := range deniesAfter {
		if strings.HasPrefix(after, d) {
			return true
		}
	}
	before = strings.TrimRight(before, " ")
	for range most {
		if ends(before, denies, true) || ends(before, deniesHan, false) {
			return !asks(after)
		}
		cut, found := without(before)
		if !found {
			return false
		}
		before = cut
	}
	return false
}

// asks reports whether a clause ends as a question: "这不是欺骗消费者吗" accuses.
func asks(after string) bool {
	if i := strings.IndexAny(after, ",.;!?。、，！？\n"); i >= 0 {
		after = after[:i]
	}
	return strings.HasSuffix(after, "吗") || strings.HasSuffix(after, "嗎") || strings.HasSuffix(after, "么")
}

// ends reports whether a text ends with one of the words. latin: which begins there.
func ends(text string, words []string, latin bool) bool {
	for _, w := range words {
		if strings.HasSuffix(text, w) && (!latin || len(text) == len(w) || !inWord(text[len(text)-len(w)-1])) {
			return true
		}
	}
	return false
}

// without takes one filler off the end.
func without(text string) (string, bool) {
	for _, w := range fillers {
		if strings.HasSuffix(text, " "+w) {
			return strings.TrimRight(text[:len(text)-len(w)], " "), true
		}
	}
	for _, w := range fillersHan {
		if cut, found := strings.CutSuffix(text, w); found {
			return cut, true
		}
	}
	return text, false
}
