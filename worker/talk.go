package worker

import (
	"context"
	"errors"

	"github.com/rs/zerolog"
	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/llm"
	"sluice/internal/mask"
)

// errForeign ends a call whose text is in another script than the customer's.
var errForeign = errors.New("the reply is in another script")

// talk is how the texts of one answer get to a model and back: what tells of a person is
// masked on the way out and put back on the way in, and a reply in another script than
// the customer's is asked for again, once. It is for one goroutine, but hide and reveal
// are safe for concurrent use.
type talk struct {
	model    llms.Model
	language string
	book     *mask.Book
	usage    chat.Usage // of all calls
	again    bool       // a reply was asked for again
	foreign  bool       // and is in another script still
}

// talk begins the talk about a ticket.
func (w *Worker) talk(t *chat.Ticket) *talk {
	return &talk{model: w.model, language: t.Language, book: mask.New()}
}

// prompt returns messages as a model may read them. Those that are not of the system are
// taken for words that the customer wrote or has read.
func (t *talk) prompt(messages []llms.MessageContent) []llms.MessageContent {
	return hidden(t.book, messages, t.language)
}

// hide returns what a tool told as a model may read it.
func (t *talk) hide(text string) string { return foreignText(t.book, text, false) }

// reveal returns the arguments that a model wrote as a tool gets them.
func (t *talk) reveal(arguments string) string { return t.book.Reveal(arguments) }

// spoken is one reply of a model.
type spoken struct {
	choice *llms.ContentChoice // as it was written, which is what the model may read again
	text   string              // as the customer reads it
}

// ask makes one call with messages that were hidden, two where the first reply is in
// another script. stream gets the text for the customer as it comes, and nothing of a
// reply that is thrown away; it must not block.
func (t *talk) ask(ctx context.Context, messages []llms.MessageContent, stream func(text string), options ...llms.CallOption) (spoken, error) {
	choice, verdict, err := t.once(ctx, messages, stream, !t.again, options)
	if !errors.Is(err, errForeign) {
		t.foreign = t.foreign || err == nil && verdict == wrong
		return t.shown(choice), err
	}
	t.again = true
	choice, verdict, err = t.once(ctx, withSystem(messages, phrase(t.language).again), stream, false, options)
	if err != nil {
		return spoken{}, err
	}
	if verdict == wrong {
		t.foreign = true
		zerolog.Ctx(ctx).Warn().Str("language", t.language).Msg("the reply is in another script, also when asked for again")
	}
	return t.shown(choice), nil
}

func (t *talk) shown(choice *llms.ContentChoice) spoken {
	if choice == nil {
		return spoken{}
	}
	return spoken{choice: choice, text: t.book.Show(choice.Content)}
}

// once makes one call. strict: a reply in another script ends it with errForeign before
// anything of it is streamed; else its text is streamed at once.
func (t *talk) once(ctx context.Context, messages []llms.MessageContent, stream func(text string), strict bool, options []llms.CallOption) (*llms.ContentChoice, writing, error) {
	shown := t.book.Stream(stream)
	held, holding := "", strict
	options = append(options[:len(options):len(options)], llms.WithStreamingFunc(func(_ context.Context, piece []byte) error {
		if !holding {
			shown.Write(string(piece))
			return nil
		}
		held += string(piece)
		switch writingOf(held, t.language, false) {
		case wrong:
			return errForeign
		case right:
			holding = false
			shown.Write(held)
		}
		return nil
	}))
	resp, err := t.model.GenerateContent(ctx, messages, options...)
	if err != nil {
		return nil, unclear, err
	}
	used := llm.UsageOf(resp)
	t.usage.PromptTokens += used.PromptTokens
	t.usage.CompletionTokens += used.CompletionTokens
	choice := resp.Choices[0]
	verdict := writingOf(choice.Content, t.language, true)
	if holding && verdict == wrong {
		return nil, verdict, errForeign
	}
	if holding {
		shown.Write(held)
	}
	shown.Close()
	return choice, verdict, nil
}
