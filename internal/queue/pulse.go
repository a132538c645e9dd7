package queue

import (
	"context"

	"github.com/nats-io/nats.go"
)

// Subjects by which processes tell what they have counted. All of it is disposable: sums
// that are lost come again with the next.
const (
	pulseSubjects  = "pulse.node.*"
	historySubject = "pulse.history" // "what do you know of the last hour?", answered by api nodes
)

func pulseSubject(node string) string { return "pulse.node." + node }

// SendPulse sends what a process has counted to whoever listens now.
func (q *Queue) SendPulse(node string, body []byte) error { return q.send(pulseSubject(node), body) }

// Pulses gives what each process has counted to visit until stop is called. visit must not block.
func (q *Queue) Pulses(visit func(body []byte)) (stop func(), err error) {
	return q.subscribe(pulseSubjects, func(msg *nats.Msg) { visit(msg.Data) })
}

// AskHistory asks the api nodes for the last hour, under the name of who asks; the first
// answer counts. ErrAbsent: there is none.
func (q *Queue) AskHistory(ctx context.Context, asker []byte) ([]byte, error) {
	return q.ask(ctx, historySubject, asker)
}

// TellHistory answers such questions with visit, unless it returns nil. visit must not block.
func (q *Queue) TellHistory(visit func(asker []byte) []byte) (stop func(), err error) {
	return q.answer(historySubject, visit)
}
