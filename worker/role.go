package worker

import (
	"strings"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/mask"
)

// markers are what the templates of open models part roles with. A vendor that does not
// take them out of a text would let a customer, or a document, speak as the system.
var markers = strings.NewReplacer(
	"<|", "< |", "|>", "| >", "<｜", "< ｜", "｜>", "｜ >",
	"[INST]", "[ INST ]", "[/INST]", "[ /INST ]", "<<SYS>>", "<< SYS >>", "<</SYS>>", "<< /SYS >>",
	"<s>", "< s >", "</s>", "< /s >", "<start_of_turn>", "< start_of_turn >", "<end_of_turn>", "< end_of_turn >",
)

// foreignText is a text that others wrote, as a vendor may read it: without what tells of
// a person, and without what could part roles. own: the customer wrote or has read it.
func foreignText(book *mask.Book, text string, own bool) string {
	return markers.Replace(book.Hide(text, own))
}

// hidden returns a prompt as a vendor may read it. The system prompt is our own. That of
// a prompt with placeholders says what they are.
func hidden(book *mask.Book, messages []llms.MessageContent, language string) []llms.MessageContent {
	all := make([]llms.MessageContent, len(messages))
	masked := false
	for i, m := range messages {
		all[i] = m
		if m.Role == llms.ChatMessageTypeSystem {
			continue
		}
		all[i].Parts = make([]llms.ContentPart, len(m.Parts))
		for k, part := range m.Parts {
			if text, is := part.(llms.TextContent); is {
				was := text.Text
				text.Text = foreignText(book, was, true)
				masked = masked || text.Text != was
				part = text
			}
			all[i].Parts[k] = part
		}
	}
	if masked {
		all = withSystem(all, phrase(language).placeholders)
	}
	return all
}

// withSystem adds a line to the system prompt, in a copy: vendors do not agree on what a
// second one means.
func withSystem(messages []llms.MessageContent, line string) []llms.MessageContent {
	all := append([]llms.MessageContent(nil), messages...)
	if len(all) > 0 && all[0].Role == llms.ChatMessageTypeSystem && len(all[0].Parts) == 1 {
		if text, is := all[0].Parts[0].(llms.TextContent); is {
			all[0].Parts = []llms.ContentPart{llms.TextContent{Text: strings.TrimRight(text.Text, "\n") + "\n" + line}}
			return all
		}
	}
	return append([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, line)}, all...)
}
