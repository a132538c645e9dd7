package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Subjects between the controller and the nodes. All of it is disposable: whatever is
// lost is said again.
const (
	reportSubject = "control.report" // nodes to the controller
	placeSubject  = "control.place"  // questions about the line, answered
	intakeSubject = "control.intake" // may a message come in: answered; and what was given back
	helloSubject  = "control.hello"  // the controller to all nodes
	steerSubject  = "control.steer"  // operators' words about vendors, answered
)

func mailSubject(node string) string { return "control.node." + node }

// ErrAbsent says that nobody listens: the process is dead or cut off, not merely slow.
var ErrAbsent = errors.New("nobody listens")

// SendReport sends a node's report to whoever is controller.
func (q *Queue) SendReport(body []byte) error { return q.send(reportSubject, body) }

// SendHello sends the controller's sign of life to every node.
func (q *Queue) SendHello(body []byte) error { return q.send(helloSubject, body) }

// SendMail sends the controller's message to one node.
func (q *Queue) SendMail(node string, body []byte) error { return q.send(mailSubject(node), body) }

func (q *Queue) send(subject string, body []byte) error {
	if err := q.nc.Publish(subject, body); err != nil {
		return fmt.Errorf("send to %s: %w", subject, err)
	}
	return nil
}

// Reports gives each report to visit until stop is called. visit must not block.
func (q *Queue) Reports(visit func(body []byte)) (stop func(), err error) {
	return q.subscribe(reportSubject, func(msg *nats.Msg) { visit(msg.Data) })
}

// Hellos gives each controller's sign of life to visit. visit must not block.
func (q *Queue) Hellos(visit func(body []byte)) (stop func(), err error) {
	return q.subscribe(helloSubject, func(msg *nats.Msg) { visit(msg.Data) })
}

// Mail gives each message of a controller to one node to visit, and answers Probe.
// visit must not block.
func (q *Queue) Mail(node string, visit func(body []byte)) (stop func(), err error) {
	return q.subscribe(mailSubject(node), func(msg *nats.Msg) {
		if msg.Reply != "" {
			_ = msg.Respond(nil) // unanswered, the node is asked again
			return
		}
		visit(msg.Data)
	})
}

// Probe asks whether a node is there. Nil: it answered. ErrAbsent: nobody listens to its
// subject. Any other error, a time-out above all, says nothing about its calls.
func (q *Queue) Probe(ctx context.Context, node string) error {
	_, err := q.nc.RequestWithContext(ctx, mailSubject(node), nil)
	if errors.Is(err, nats.ErrNoResponders) {
		return ErrAbsent
	}
	if err != nil {
		return fmt.Errorf("probe node %s: %w", node, err)
	}
	return nil
}

// AskPlace asks the controller about the line. ErrAbsent: there is none.
func (q *Queue) AskPlace(ctx context.Context, body []byte) ([]byte, error) {
	return q.ask(ctx, placeSubject, body)
}

func (q *Queue) ask(ctx context.Context, subject string, body []byte) ([]byte, error) {
	msg, err := q.nc.RequestWithContext(ctx, subject, body)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", subject, err)
	}
	return msg.Data, nil
}

// AskSteer gives an operator's word to the controller. ErrAbsent: there is none.
func (q *Queue) AskSteer(ctx context.Context, body []byte) ([]byte, error) {
	msg, err := q.nc.RequestWithContext(ctx, steerSubject, body)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, fmt.Errorf("steer a vendor: %w", err)
	}
	return msg.Data, nil
}

// Steers answers operators' words with visit; those that it answers with nil are another
// controller's. visit must not block.
func (q *Queue) Steers(visit func(body []byte) []byte) (stop func(), err error) {
	return q.subscribe(steerSubject, func(msg *nats.Msg) {
		if answer := visit(msg.Data); answer != nil {
			_ = msg.Respond(answer) // unanswered, the operator is told that nobody knows
		}
	})
}

// Places answers questions about the line with visit. visit must not block.
func (q *Queue) Places(visit func(body []byte) []byte) (stop func(), err error) {
	return q.answer(placeSubject, visit) // unanswered, the place is not shown
}

func (q *Queue) answer(subject string, visit func(body []byte) []byte) (stop func(), err error) {
	return q.subscribe(subject, func(msg *nats.Msg) {
		if answer := visit(msg.Data); answer != nil && msg.Reply != "" {
			_ = msg.Respond(answer) // lost, it is as if nobody had answered
		}
	})
}
