package worker

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sluice/internal/chat"
)

// maxChoice is the longest message, in bytes, that may name a choice by its number.
const maxChoice = 40

// declining are the messages that turn down all that was offered.
var declining = map[string]bool{
	"不是": true, "都不是": true, "不是这些": true, "不是這些": true, "都不是这些": true, "以上都不是": true, "不对": true, "不對": true, "都不对": true, "都不對": true, "没有": true, "沒有": true,
	"no": true, "nope": true, "none": true, "neither": true, "not these": true, "not those": true,
	"none of these": true, "none of those": true, "none of them": true, "none of the above": true, "neither of these": true,
}

// declined answers them: another guess would be worse than a question.
var declined = map[string]string{
	chat.Chinese: "抱歉，没有猜中您的问题。请换个说法，简单说说具体情况；如需人工客服，请回复“转人工”。",
	chat.English: "Sorry, none of these was your question. Please put it in other words, with what it is about; to talk to a person, write “human agent”.",
}

// mayChoose reports whether a message can be a choice of what was offered before, or turn
// it down: the history tells whether it is.
func (w *Worker) mayChoose(message string) bool {
	base := w.faq()
	return base != nil && (numberOf(message) > 0 || declining[bare(message)] || base.Knows(message))
}

// choose answers a message that chooses from what the session's last answer offered, by
// number or by the question itself, or turns all of it down. False: it does not, or the entry
// is gone.
func (w *Worker) choose(t *chat.Ticket, history []chat.Event) (chat.Answer, bool) {
	if !w.mayChoose(t.Message) {
		return chat.Answer{}, false
	}
	offered, language := lastOffer(history)
	if text, known := declined[language]; len(offered) > 0 && declining[bare(t.Message)] && known {
		return chat.Answer{Reply: w.reply(text, language), Route: chat.RouteFAQ}, true
	}
	for i, choice := range offered {
		if i+1 != numberOf(t.Message) && !strings.EqualFold(strings.TrimSpace(t.Message), choice.Text) {
			continue
		}
		entry, there := w.faq().Entry(choice.ID)
		if !there {
			return chat.Answer{}, false
		}
		answer, in := entry.Answer(language)
		return chat.Answer{Reply: w.reply(answer, in), Route: chat.RouteFAQ}, true
	}
	return chat.Answer{}, false
}

// lastOffer returns what the last answer of the session offered, and its language.
func lastOffer(history []chat.Event) ([]chat.Choice, string) {
	for i := len(history) - 1; i >= 0; i-- {
		if e := history[i]; e.Kind == chat.KindMessage && e.Who == chat.ByBot {
			return e.Choices, e.Locale
		}
	}
	return nil, ""
}

// numberOf returns the number that a message consists of, in whatever way it is written
// ("2", "２。", "第二个", "the second one"); 0: it is something else.
func numberOf(message string) int {
	text := bare(message)
	for _, around := range [][2]string{{"", " please"}, {"", "吧"}, {"选择", ""}, {"选", ""}, {"第", "个"}, {"第", "项"}, {"第", "条"}, {"第", ""}, {"the ", " one"}, {"the ", ""}, {"option ", ""}, {"number ", ""}} {
		before, after := around[0], around[1]
		if strings.HasPrefix(text, before) && strings.HasSuffix(text, after) && len(text) > len(before)+len(after) {
			text = strings.TrimSpace(text[len(before) : len(text)-len(after)])
		}
	}
	switch text {
	case "1", "一", "one", "first":
		return 1
	case "2", "二", "two", "second":
		return 2
	case "3", "三", "three", "third":
		return 3
	}
	return 0
}

// bare returns a short message in one form, without the signs around it; empty: it is long.
func bare(message string) string {
	if len(message) > maxChoice {
		return ""
	}
	text := strings.ToLower(norm.NFKC.String(message))
	return strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
