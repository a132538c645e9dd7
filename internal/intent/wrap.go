package intent

import (
	"math/rand/v2"
	"strings"
)

// wrap puts a text into the phrases that people carry a request in, so that a class with
// few examples does not learn their absence.
func wrap(folded string, random *rand.Rand) string {
	before, after := beforeEnglish(), afterEnglish()
	if strings.ContainsFunc(folded, isHan) {
		before, after = beforeChinese(), afterChinese()
	}
	where := random.IntN(3)
	if where != 0 {
		folded = strings.TrimRight(folded, ".!?。") + after[random.IntN(len(after))]
	}
	if where != 1 {
		folded = before[random.IntN(len(before))] + folded
	}
	return folded
}

func beforeChinese() []string {
	return []string{
		"你好,", "您好,", "请问", "请问一下,", "麻烦问下,", "亲,", "那个,", "在吗,", "想问一下,", "我想问问,", "你们好,", "喂,",
		"哎,", "帮我看下,", "麻烦你,", "咨询一下,", "不好意思,", "打扰一下,", "是这样的,",
	}
}

func afterChinese() []string {
	return []string{
		",谢谢", ",麻烦了", ",急", ",在线等", "啊", "呢", "吧", ",怎么办", ",快点", ",帮帮忙", ",可以吗", "!", "?", ",拜托了", "。", "...", ",谢了",
	}
}

func beforeEnglish() []string {
	return []string{
		"hi, ", "hello, ", "hey ", "hi there, ", "please ", "excuse me, ", "good morning, ", "sorry, ", "can you help me, ",
		"i have a question: ", "quick question, ", "ok so ", "um ", "well, ", "hello team, ", "hi guys, ", "dear support, ", "just wondering, ",
	}
}

func afterEnglish() []string {
	return []string{
		" please", " thanks", " thank you", " asap", "?", "!", ".", "...", " can you help", " help", " cheers", " pls", " thx",
		" right now", ", thanks in advance", " many thanks", " ok?",
	}
}
