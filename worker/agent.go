package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/tool"
)

// maxParallel is the most tools of one round that are called; a model that wishes for more
// is told so.
const maxParallel = 8

// errNoText says that a model which had to answer wished for tools instead.
var errNoText = errors.New("the model gave no answer in its last step")

// agent is one answer on its way: the model is asked, the tools that it wishes for are
// called side by side, and it is asked again with what they told. Each call of the model
// has a permit of its own, and none is held while tools work.
type agent struct {
	w        *Worker
	q        chat.Question
	run      *tool.Run // nil: there are no tools
	messages []llms.MessageContent
	stream   func(text string)
	bare     bool // the model is offered no tools

	talk   *talk    // once it answers: from then on the messages are as the model reads them
	called bool     // tools were: the answer rests on what they told
	said   []string // to the customer, by step
	usage  chat.Usage
	long   bool // the answer reached its limit
}

// answer asks until there is an answer, in steps calls of the model at most: the last one
// may wish for nothing.
func (a *agent) answer(ctx context.Context, steps int) error {
	a.talk = a.w.talk(&a.q.Ticket)
	a.messages = a.talk.prompt(a.messages)
	for step := 1; ; step++ {
		choice, err := a.ask(ctx, step >= steps)
		if err != nil {
			return fmt.Errorf("ask the model: %w", err)
		}
		if a.run == nil || a.bare || len(choice.ToolCalls) == 0 {
			a.long = choice.StopReason == "length"
			return nil
		}
		if step >= steps {
			if len(a.said) == 0 && !a.run.Person() {
				return errNoText
			}
			return nil
		}
		a.observe(ctx, choice)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := a.run.Err(); err != nil {
			return fmt.Errorf("do what cannot be undone: %w", err)
		}
		if _, _, asked := a.run.Question(); asked {
			return nil // the customer's word comes next
		}
	}
}

// ask makes one call of the model. The customer reads its text as it comes, with a blank
// line before that of a further step.
func (a *agent) ask(ctx context.Context, last bool) (*llms.ContentChoice, error) {
	begun := false
	stream := func(text string) {
		if !begun && len(a.said) > 0 {
			a.stream(between)
		}
		begun = true
		a.stream(text)
	}
	options := []llms.CallOption{llms.WithMaxTokens(a.w.cfg.MaxTokens)}
	if a.run != nil && !a.bare {
		if offered := a.run.Definitions(a.w.away()); len(offered) > 0 {
			options = append(options, llms.WithTools(offered))
			if last {
				options = append(options, llms.WithToolChoice("none"))
			}
		}
	}
	reply, err := a.talk.ask(ctx, a.messages, stream, options...)
	a.usage = a.talk.usage
	if err != nil {
		return nil, err
	}
	if !blank(reply.text) {
		a.said = append(a.said, reply.text)
	}
	return reply.choice, nil
}

// blank reports whether nothing of a text can be read.
func blank(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && unicode.IsGraphic(r) }) < 0
}

// between stands between what two steps told the customer.
const between = "\n\n"

// observe calls the tools of one round side by side and puts what they told into the
// prompt: one message with all wishes, then one for each result, in their order.
func (a *agent) observe(ctx context.Context, choice *llms.ContentChoice) {
	a.called = true
	wish := llms.MessageContent{Role: llms.ChatMessageTypeAI}
	if choice.Content != "" {
		wish.Parts = append(wish.Parts, llms.TextContent{Text: choice.Content})
	}
	results := make([]llms.MessageContent, len(choice.ToolCalls))
	var work sync.WaitGroup
	for i, call := range choice.ToolCalls {
		wish.Parts = append(wish.Parts, call)
		result := llms.ToolCallResponse{ToolCallID: call.ID, Name: call.FunctionCall.Name}
		work.Go(func() {
			if i >= maxParallel {
				result.Content = `{"error":"too many tools at once"}`
			} else {
				result.Content = a.talk.hide(a.run.Call(ctx, call.FunctionCall.Name, a.talk.reveal(call.FunctionCall.Arguments)))
			}
			results[i] = llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}}
		})
	}
	work.Wait()
	a.messages = append(append(a.messages, wish), results...)
}

// text is what the customer was told in all steps.
func (a *agent) text() string {
	text := strings.Join(a.said, between)
	if a.long {
		text += " …"
	}
	return text
}
