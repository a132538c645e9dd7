package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

const (
	dayKey = "intake"
	// dayTTL outlives the day, wherever on the earth the clock that ends it stands.
	dayTTL = 48 * time.Hour
)

// AskIntake asks the controller whether a message may come in. ErrAbsent: there is none.
func (q *Queue) AskIntake(ctx context.Context, body []byte) ([]byte, error) {
	return q.ask(ctx, intakeSubject, body)
}

// SendIntake tells the controller of a message that did not come in after all.
func (q *Queue) SendIntake(body []byte) error { return q.send(intakeSubject, body) }

// Intake gives what is asked and told about messages to visit, and answers with what that
// returns; nil: no answer. visit must not block.
func (q *Queue) Intake(visit func(body []byte) []byte) (stop func(), err error) {
	return q.answer(intakeSubject, visit)
}

// IntakeDay returns what was stored last of a day's messages; nil: nothing.
func (q *Queue) IntakeDay(ctx context.Context) ([]byte, error) {
	entry, err := q.control.Get(ctx, dayKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the day's messages: %w", err)
	}
	return entry.Value(), nil
}

// SetIntakeDay stores what has come in on a day. One process at a time calls it: the
// controller.
func (q *Queue) SetIntakeDay(ctx context.Context, body []byte) error {
	return q.putFor(ctx, dayKey, body, dayTTL)
}

// LaneLoad is how full a lane is.
type LaneLoad struct {
	Depth int    // accepted and not ended
	Bound int    // in force now
	Gone  uint64 // how many have left it since it was made
}

// LaneLoad returns how full a lane is now, as its stream's leader knows it.
func (q *Queue) LaneLoad(ctx context.Context, lane chat.Lane) (LaneLoad, error) {
	info, err := q.lanes[lane].Info(ctx)
	if err != nil {
		return LaneLoad{}, fmt.Errorf("read depth of %s: %w", lane, err)
	}
	return LaneLoad{
		Depth: int(info.State.Msgs), Bound: int(info.Config.MaxMsgs), Gone: info.State.LastSeq - info.State.Msgs,
	}, nil
}
