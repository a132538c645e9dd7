package faq

import "strings"

// deeds are what entries tell how to do, one deed a line. A question that does not want it
// ("I do not want to delete my account") is not answered by an entry that tells how.
var deeds = [...][]string{
	{"cancel", "cancelling", "call off", "取消", "撤销", "撤单"},
	{"delete", "deleting", "erase", "close my account", "unregister", "注销", "销号", "删号", "删除"},
	{"leave", "quit", "退会员", "退出"},
	{"return", "send back", "退货", "寄回"},
	{"refund", "退款", "退钱"},
	{"exchange", "swap", "换货"},
	{"change", "edit", "修改", "更改", "改地址"},
	{"join", "upgrade", "开通", "升级", "加入"},
}

// refusals stand before a deed that is not wanted, in Chinese and in English.
var (
	refusalsHan = [...]string{"不想", "不要", "不是要", "不打算", "没想", "没打算", "没要", "没有要", "没说要", "并不想", "别", "不用", "不需要", "不准备"}
	refusals    = [...]string{" dont want to ", " do not want to ", " not want to ", " dont wanna ", " dont ", " do not ", " never ", " not going to ", " not trying to ", " without ", " not asking to ", " didnt want to ", " did not ask to "}
)

// between is how many bytes may stand between a refusal and its deed.
const between = 18

// actions returns the deeds that a plain text names and wants, and those that it does not, a
// bit each. A deed of both kinds is of neither.
func actions(plain string) (does, not uint64) {
	for i, words := range deeds {
		for _, word := range words {
			if word[0] < 0x80 {
				word = " " + word + " "
			}
			for at := 0; ; {
				next := strings.Index(plain[at:], word)
				if next < 0 {
					break
				}
				at += next
				if refused(plain[max(0, at-between-len(" do not want to ")):min(len(plain), at+1)], word[0] >= 0x80) {
					not |= 1 << i
				} else {
					does |= 1 << i
				}
				at += len(word) - 1
			}
		}
	}
	both := does & not
	return does &^ both, not &^ both
}

// refused reports whether the end of a text refuses what follows it.
func refused(before string, han bool) bool {
	if han {
		before = before[:len(before)-1]
		for _, r := range refusalsHan {
			if reaches(before, r) && !strings.ContainsAny(before[strings.LastIndex(before, r)+len(r):], "了怎如能可后就") {
				return true
			}
		}
		return false
	}
	for _, r := range refusals {
		if reaches(before, r) && !asks(before[strings.LastIndex(before, r)+len(r):]) {
			return true
		}
	}
	return false
}

func reaches(before, refusal string) bool {
	i := strings.LastIndex(before, refusal)
	return i >= 0 && len(before)-i-len(refusal) <= between
}

// asks reports whether English words begin to ask for something else: "don't want it, how
// do I return it".
func asks(words string) bool {
	for word := range strings.FieldsSeq(words) {
		switch word {
		case "how", "can", "could", "where", "what", "so", "please":
			return true
		}
	}
	return false
}
