package worker

import (
	"context"
	"time"

	"sluice/internal/chat"
)

// look asks the carrier what became of a notice that it has taken, or may have.
func (s *Sender) look(ctx context.Context, n chat.Notice) error {
	carrier := s.texting().Carrier
	n.Looks++
	if carrier == nil || carrier.Name() != n.Provider {
		return s.later(ctx, n) // by other rules it may be told yet
	}
	found, err := carrier.Find(ctx, &n)
	now := time.Now().UTC()
	if err != nil {
		s.rest.Warn().Err(err).Str("ticket", n.ID).Str("provider", n.Provider).Msg("the carrier does not say what became of a notice")
		return s.later(ctx, n)
	}
	before := n.State
	switch {
	case found.There:
		found.Receipt.At, found.Receipt.Round = now, n.Round
		if found.Receipt.State == "" && n.State == chat.NoticeUnknown {
			found.Receipt.State = chat.NoticeSent
		}
		n.Hear(found.Receipt, now)
		if n.State == before {
			return s.later(ctx, n)
		}
	case n.State == chat.NoticeSent, now.Sub(n.AskedAt) < absentAfter:
		return s.later(ctx, n)
	case !now.Before(n.LeaveBy()):
		n.Fail(chat.FaultNotSent, now)
	default:
		n.Turn(chat.NoticeQueued, now)
		n.Again = false
	}
	return s.set(ctx, n)
}

// later puts the next look off. One at a notice that was taken is not repeated for ever, and
// one for an operator's sake not after its time.
func (s *Sender) later(ctx context.Context, n chat.Notice) error {
	now := time.Now().UTC()
	switch {
	case n.State != chat.NoticeSent && n.Settled && !now.Before(n.LeaveBy()):
		n.Until, n.Again = time.Time{}, false
	case n.State != chat.NoticeSent:
		n.Next = now.Add(back(firstLook, n.Looks))
	case n.Looks < maxLooks:
		n.Next = now.Add(chat.LookAfter << (2 * n.Looks))
	default:
		n.Next = time.Time{}
	}
	_, _, err := s.outbox.Set(ctx, n)
	return err
}
