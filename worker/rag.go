package worker

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/knowledge"
	"sluice/internal/llm"
)

// ErrUnknown says that the knowledge does not cover a question.
var ErrUnknown = errors.New("the knowledge does not cover the question")

// Knowledge is what the RAG chain answers from.
type Knowledge struct {
	Index     *knowledge.Index // nil: there is none
	Threshold float64          // least part of a question that a passage must cover
	Passages  int              // most of one answer
	Near      *Near            // nil: passages are found by their words alone
}

// ragHistory is how many events of its session an answer from the knowledge is given: it
// rests on passages, and a long history would hide them.
const ragHistory = 8

// The system prompts of the RAG chain, and what is said where nothing is known.
var (
	//go:embed prompt_rag_zh.txt
	ragChinese string
	//go:embed prompt_rag_en.txt
	ragEnglish string
	//go:embed unknown_zh.txt
	unknownChinese string
	//go:embed unknown_en.txt
	unknownEnglish string
)

// Knows reports whether the knowledge covers a ticket's question.
func (w *Worker) Knows(t *chat.Ticket) bool { return len(w.passages(t)) > 0 }

// passages returns what the knowledge has for a ticket's question, the best first.
func (w *Worker) passages(t *chat.Ticket) []knowledge.Hit {
	if w.cfg.Knowledge == nil {
		return nil
	}
	k := w.cfg.Knowledge()
	if k.Index == nil {
		return nil
	}
	return w.retrieve(t, k)
}

// rag answers from the knowledge with one call of the model, which has no tools. It names
// its sources. ErrUnknown: the knowledge does not cover the question, and no model was
// asked.
func (w *Worker) rag(ctx context.Context, q chat.Question, stream func(text string)) (chat.Answer, error) {
	hits := w.passages(&q.Ticket)
	if len(hits) == 0 {
		return chat.Answer{}, ErrUnknown
	}
	messages, sources := w.grounded(q, hits)
	a := &agent{w: w, q: q, stream: stream, bare: true, messages: messages}
	if err := a.answer(ctx, 1); err != nil {
		return chat.Answer{}, err
	}
	if len(a.said) == 0 {
		return chat.Answer{}, fmt.Errorf("answer from the knowledge: %w", &llm.Error{Kind: llm.Empty})
	}
	rests := cited(a.text(), sources)
	below := credits(rests, q.Ticket.Language)
	stream(below)
	ans := chat.Answer{
		Reply: w.reply(harmless(a.text())+below, q.Ticket.Language), Route: chat.RouteRAG, Usage: &a.usage, Foreign: a.talk.foreign,
	}
	for _, number := range slices.Sorted(maps.Keys(rests)) {
		ans.Reply.Sources = append(ans.Reply.Sources, rests[number])
	}
	return ans, nil
}

// unknown tells a customer that we do not know, and what happens next.
func (w *Worker) unknown(language string, stream func(text string)) chat.Answer {
	text := strings.TrimSpace(unknownEnglish)
	if language == chat.Chinese {
		text = strings.TrimSpace(unknownChinese)
	}
	stream(text)
	return chat.Answer{Reply: w.reply(text, language), Route: chat.RouteRAG}
}

// grounded is the prompt of an answer from passages. What never changes comes first, then
// the session, then the passages in a message of their own, then the customer's words in
// another: no text of a document, or of a customer, has the system's role.
func (w *Worker) grounded(q chat.Question, hits []knowledge.Hit) ([]llms.MessageContent, []chat.Source) {
	q.History = q.History[max(0, len(q.History)-ragHistory):]
	messages := w.prompt(q, nil, false)
	system, noted, language := ragEnglish, notedEnglish, chat.English
	if q.Ticket.Language == chat.Chinese {
		system, noted, language = ragChinese, notedChinese, chat.Chinese
	}
	text, sources := reference(hits, language)
	messages[0] = llms.TextParts(llms.ChatMessageTypeSystem, system)
	return slices.Insert(messages, len(messages)-1,
		llms.TextParts(llms.ChatMessageTypeHuman, text), llms.TextParts(llms.ChatMessageTypeAI, noted)), sources
}
