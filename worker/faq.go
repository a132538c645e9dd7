package worker

import (
	"fmt"
	"strings"

	"sluice/internal/chat"
	"sluice/internal/faq"
)

// FAQ answers from the written answers, without any I/O. Where several entries may be
// meant and none is certain, it offers their questions. False: none of them fits.
func (w *Worker) FAQ(t *chat.Ticket) (chat.Answer, bool) {
	base := w.faq()
	if base == nil {
		return chat.Answer{}, false
	}
	m := base.MatchNear(t.Message, t.Language, w.vector(t, base.Space()))
	if m.Tier != faq.Answer && w.cfg.Missed != nil && numberOf(t.Message) == 0 {
		w.cfg.Missed(base, t, m)
	}
	switch m.Tier {
	case faq.Answer:
		return chat.Answer{Reply: w.reply(m.Answer, m.Language), Route: chat.RouteFAQ}, true
	case faq.Offer:
		return chat.Answer{Reply: w.offer(m.Nearest, t.Language), Route: chat.RouteFAQ}, true
	case faq.Pass:
	}
	return chat.Answer{}, false
}

// faq returns the entries in force; nil: there are none.
func (w *Worker) faq() *faq.Base {
	if w.cfg.FAQ == nil {
		return nil
	}
	return w.cfg.FAQ()
}

// offerLead is what an offer begins with.
func offerLead(language string) string {
	if language == chat.Chinese {
		return "您想问的是不是下面的问题？请点击，或回复序号："
	}
	return "Is your question one of these? Choose it, or reply with its number:"
}

// offer lists questions to choose from, for buttons and by number.
func (w *Worker) offer(nearest []faq.Option, language string) chat.Reply {
	if language != chat.Chinese {
		language = chat.English
	}
	var text strings.Builder
	text.WriteString(offerLead(language) + "\n")
	var choices []chat.Choice
	for i, option := range nearest {
		fmt.Fprintf(&text, "\n%d. %s", i+1, option.Question)
		choices = append(choices, chat.Choice{ID: option.Entry, Text: option.Question})
	}
	reply := w.reply(text.String(), language)
	reply.Choices = choices
	return reply
}
