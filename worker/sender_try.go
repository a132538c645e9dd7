package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"sluice/internal/chat"
	"sluice/internal/sms"
	"sluice/internal/trace"
)

// advance does what is due for one notice.
func (s *Sender) advance(ctx context.Context, n chat.Notice) {
	ctx, cancel := context.WithTimeout(ctx, sendLimit+2*noticeLimit)
	defer cancel()
	now := time.Now().UTC()
	var err error
	if status, ended := n.Promised(now); ended && !n.Settled {
		err = s.outbox.Settle(ctx, n, status)
	} else {
		switch n.State {
		case chat.NoticeQueued:
			err = s.try(ctx, n, now)
		case chat.NoticeSending: // its sender is gone, or its outcome was never written
			n.Turn(chat.NoticeUnknown, now)
			n.Looks = 0
			err = s.set(ctx, n)
		default:
			err = s.look(ctx, n)
		}
	}
	if err != nil {
		s.rest.Warn().Err(err).Str("ticket", n.ID).Msg("a notice cannot be brought forward, trying again")
	}
}

// try sends a notice if it may go out now.
func (s *Sender) try(ctx context.Context, n chat.Notice, now time.Time) error {
	t := s.texting()
	if !now.Before(n.LeaveBy()) {
		n.Fail(chat.FaultOverdue, now)
		return s.set(ctx, n)
	}
	if t.Carrier == nil {
		return nil
	}
	if quiet := t.Quiet.End(n.Phone, now); quiet.After(now) {
		if quiet.Before(n.LeaveBy()) {
			return nil
		}
		n.Fail(chat.FaultQuiet, now)
		return s.set(ctx, n)
	}
	if !slices.Contains(t.Countries, sms.Country(n.Phone)) {
		n.Fail(chat.FaultCountry, now)
		return s.set(ctx, n)
	}
	fault, err := s.outbox.Allow(ctx, n, t.Caps, now)
	if err != nil {
		return err
	}
	if fault != "" {
		n.Fail(fault, now)
		return s.set(ctx, n)
	}
	return s.send(ctx, n, t.Carrier)
}

// send claims a notice and hands it over. Where the claim took too long nothing is handed
// over: another sender may be looking already.
func (s *Sender) send(ctx context.Context, n chat.Notice, carrier Carrier) error {
	claimed := time.Now()
	n.Turn(chat.NoticeSending, claimed.UTC())
	n.Holder, n.Provider, n.AskedAt, n.Looks, n.Fault = s.node, carrier.Name(), claimed.UTC(), 0, ""
	n.Text, n.Segments = carrier.Text(&n)
	n.Tries++
	n, mine, err := s.outbox.Set(ctx, n)
	if err != nil || !mine || time.Since(claimed) > sendWithin {
		return err
	}
	sending, cancel := context.WithDeadline(ctx, claimed.Add(sendLimit))
	sending, span := trace.Start(trace.Of(sending, n.ID), "text", oteltrace.SpanKindProducer,
		attribute.String("sluice.provider", carrier.Name()), attribute.Int("sluice.attempt", n.Tries))
	receipt, err := carrier.Send(sending, &n)
	trace.Finish(span, string(receipt.State), err != nil)
	cancel()
	return s.outcome(ctx, n, receipt, err)
}

// outcome writes what a try came to. Where a receipt was faster, that has said it already;
// where it cannot be written, whoever looks next asks the carrier.
func (s *Sender) outcome(ctx context.Context, n chat.Notice, receipt chat.Receipt, err error) error {
	now := time.Now().UTC()
	var refusal *sms.Refusal
	switch {
	case err == nil:
		receipt.At, receipt.Round = now, n.Round
		if receipt.State == "" {
			receipt.State = chat.NoticeSent // it was taken, whatever the carrier calls that
		}
		n.Hear(receipt, now)
		if n.Provider == sms.ProviderOutbox {
			n.Next = time.Time{} // nobody will ever say more
		}
	case !errors.As(err, &refusal):
		s.rest.Warn().Err(err).Str("ticket", n.ID).Str("provider", n.Provider).Msg("nobody knows whether a notice was sent")
		n.Turn(chat.NoticeUnknown, now)
		n.Next = now.Add(firstLook)
	case refusal.Verdict == sms.NotNow:
		s.rest.Warn().Str("ticket", n.ID).Str("provider", n.Provider).Str("code", refusal.Code).Msg("the carrier takes nothing now")
		n.Turn(chat.NoticeQueued, now)
		n.Next = now.Add(max(refusal.After, back(time.Second, n.Tries-1)))
		n.Fault = refusal.Code
	default:
		if refusal.Verdict == sms.OptOut {
			if err := s.outbox.Suppress(ctx, n.Phone, refusal.Code, now); err != nil {
				return err
			}
		}
		n.Fail(refusal.Code, now)
	}
	return s.set(ctx, n)
}

// set writes a notice, and tells the log where it stands.
func (s *Sender) set(ctx context.Context, n chat.Notice) error {
	n, mine, err := s.outbox.Set(ctx, n)
	if err != nil || !mine {
		return err
	}
	s.log.Info().Str("ticket", n.ID).Str("tenant", n.Tenant).Str("provider", n.Provider).Str("state", string(n.State)).
		Str("fault", n.Fault).Int("attempt", n.Tries).Msg("notice")
	return nil
}

// back is how long to wait after so many times: twice as long each, up to mostBack.
func back(first time.Duration, times int) time.Duration {
	return min(first<<min(max(times, 0), 10), mostBack)
}
