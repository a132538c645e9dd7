package worker

import (
	"context"
	"errors"

	"sluice/internal/chat"
)

// ErrUnknown says that the knowledge does not cover a question: a lesser rung answers it.
var ErrUnknown = errors.New("the knowledge does not cover the question")

// Knows reports whether the knowledge covers a ticket's question.
func (w *Worker) Knows(*chat.Ticket) bool { return false }

// rag answers from the knowledge. ErrUnknown: it does not cover the question.
func (w *Worker) rag(context.Context, chat.Question, func(text string)) (chat.Answer, error) {
	return chat.Answer{}, ErrUnknown
}
