package worker

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/tool"
)

// The system prompts that serve where none is configured.
var (
	//go:embed prompt_zh.txt
	promptChinese string
	//go:embed prompt_en.txt
	promptEnglish string
	// What is added where there are tools.
	//go:embed tools_zh.txt
	toolsChinese string
	//go:embed tools_en.txt
	toolsEnglish string
	// What is added where a customer would have to sign in for some of them.
	//go:embed anonymous_zh.txt
	anonymousChinese string
	//go:embed anonymous_en.txt
	anonymousEnglish string
	// What is added instead where the tools are kept from the model.
	//go:embed bare_zh.txt
	bareChinese string
	//go:embed bare_en.txt
	bareEnglish string
	// What is added for these where the knowledge does not cover the message.
	//go:embed uncovered_zh.txt
	uncoveredChinese string
	//go:embed uncovered_en.txt
	uncoveredEnglish string
)

// prompt is the system prompt, every earlier exchange of the session that the question
// carries, and the message. Each text keeps the role of who wrote it. An exchange
// stands where its answer came, so that roles alternate; messages that are still open
// are left out: they get an answer of their own.
func (w *Worker) prompt(q chat.Question, run *tool.Run, bare bool) []llms.MessageContent {
	system := w.system(q.Ticket.Language)
	if run != nil {
		system += manual(q.Ticket.Language, run, bare)
	}
	if bare {
		system += w.uncovered(&q.Ticket)
	}
	if line := phrase(q.Ticket.Language).moods[q.Ticket.Mood]; line != "" {
		system = strings.TrimRight(system, "\n") + "\n" + line
	}
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, system)}
	asked := map[string]string{}
	var open []string // whose messages nobody has answered yet, in their order
	for _, e := range q.History {
		switch e.Who {
		case chat.ByCustomer:
			asked[e.Ticket] = e.Text
			open = append(open, e.Ticket)
		case chat.ByBot, chat.ByHuman:
			text := asked[e.Ticket]
			if e.Who == chat.ByHuman { // a person answers all that there is
				text = joined(asked, open)
				open = nil
			} else {
				open = slices.DeleteFunc(open, func(id string) bool { return id == e.Ticket })
			}
			if text == "" && len(messages) == 1 {
				continue // the history begins after its question: vendors want the customer to speak first
			}
			if text != "" {
				messages = append(messages, llms.TextParts(llms.ChatMessageTypeHuman, text))
			}
			messages = append(messages, llms.TextParts(llms.ChatMessageTypeAI, e.Text))
		}
	}
	return append(messages, llms.TextParts(llms.ChatMessageTypeHuman, q.Ticket.Message))
}

// uncovered tells a model that answers alone that the knowledge has nothing for a ticket;
// empty where it has, or where there is none.
func (w *Worker) uncovered(t *chat.Ticket) string {
	switch {
	case w.cfg.Knowledge == nil || w.cfg.Knowledge().Index == nil || w.Knows(t):
		return ""
	case t.Language == chat.Chinese:
		return strings.TrimRight(uncoveredChinese, "\n")
	}
	return strings.TrimRight(uncoveredEnglish, "\n")
}

// joined returns the messages of tickets as one.
func joined(asked map[string]string, tickets []string) string {
	var texts []string
	for _, id := range tickets {
		texts = append(texts, asked[id])
	}
	return strings.Join(texts, "\n\n")
}

// manual is what the model has to know of the tools.
func manual(language string, run *tool.Run, bare bool) string {
	more, anonymous, busy := toolsEnglish, anonymousEnglish, bareEnglish
	if language == chat.Chinese {
		more, anonymous, busy = toolsChinese, anonymousChinese, bareChinese
	}
	if bare {
		return strings.TrimRight(busy, "\n")
	}
	text := strings.TrimRight(more, "\n")
	if run.Anonymous() {
		text += strings.TrimRight(anonymous, "\n")
	}
	return text
}

func (w *Worker) system(language string) string {
	if text := w.cfg.Prompts[language]; text != "" {
		return text
	}
	if language == chat.Chinese {
		return promptChinese
	}
	return promptEnglish
}
