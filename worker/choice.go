package worker

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sluice/internal/chat"
)

// maxChoice is the longest message, in bytes, that may name a choice by its number.
const maxChoice = 40

// mayChoose reports whether a message can be a choice of what was offered before: the
// history tells whether it is.
func (w *Worker) mayChoose(message string) bool {
	base := w.faq()
	return base != nil && (numberOf(message) > 0 || base.Knows(message))
}

// choose answers a message that chooses from what the session's last answer offered, by
// number or by the question itself. False: it does not, or the entry is gone.
func (w *Worker) choose(t *chat.Ticket, history []chat.Event) (chat.Answer, bool) {
	if !w.mayChoose(t.Message) {
		return chat.Answer{}, false
	}
	offered, language := lastOffer(history)
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
	if len(message) > maxChoice {
		return 0
	}
	text := strings.ToLower(norm.NFKC.String(message))
	text = strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
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
