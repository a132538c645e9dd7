package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// obey does what a frame after the hello asks for. Frames of one socket are served one
// after the other, so messages keep their order.
func (k *socket) obey(ctx context.Context, data []byte) {
	kind, err := frameType(data)
	if err == nil {
		switch kind {
		case "send":
			err = serve(data, func(f sendFrame) error { return k.send(ctx, f) })
		case "cancel":
			err = serve(data, func(f cancelFrame) error { return k.cancel(ctx, f) })
		case "ping":
			err = serve(data, func(pingFrame) error { return k.pong(ctx) })
		case "typing":
			err = serve(data, func(f typeFrame) error {
				if err := need(f.On != nil, "on"); err != nil {
					return err
				}
				k.typed(*f.On)
				return nil
			})
		case "read":
			err = serve(data, func(f readFrame) error {
				if err := need(f.Seq != nil, "seq"); err != nil {
					return err
				}
				k.markRead(*f.Seq)
				return nil
			})
		case "rate":
			err = serve(data, func(f rateFrame) error { return k.rate(ctx, f) })
		case "hello":
			err = errors.New("a socket says hello once")
		default:
			err = errors.New("unknown type of frame")
		}
	}
	if err != nil {
		k.log.Debug().Err(err).Str("tenant", k.tenant.Name).Msg("frame refused")
		k.end(closeBadFrame, "bad frame")
	}
}

func serve[T any](data []byte, do func(T) error) error {
	f, err := decodeFrame[T](data)
	if err != nil {
		return err
	}
	return do(f)
}

func need(ok bool, field string) error {
	if !ok {
		return fmt.Errorf("field %s is missing or not valid", field)
	}
	return nil
}

// send makes a message durable and then acknowledges it. Where the message is accepted
// but has no seq yet it says nothing: the client repeats its cmid.
func (k *socket) send(ctx context.Context, f sendFrame) error {
	if err := need(cmid.MatchString(f.CMID), "cmid"); err != nil {
		return err
	}
	if wait := k.tooFast(); wait > 0 {
		k.push(errorFrame{Type: "error", CMID: f.CMID, Code: codeRateLimited, RetryAfterMS: wait.Milliseconds() + 1, Temporary: true})
		return nil
	}
	k.sending.Store(&f.CMID)
	defer k.sending.Store(nil)
	// A client that leaves now must not undo what it sent; the intake has its own time-out.
	t, dup, err := k.intake.Submit(context.WithoutCancel(ctx), Message{
		Tenant: k.tenant, Session: k.session, Text: f.Text, CMID: f.CMID, Locale: k.locale, Phone: f.Phone,
		Customer: k.customer,
		Claim:    queue.Claim{Key: k.session + "\x00" + f.CMID, Body: chat.HashKey(f.Text)},
	})
	if err != nil {
		k.push(errorOf(f.CMID, err))
		return nil
	}
	if t.Seq == 0 {
		return nil
	}
	k.keys.on = false // its event says so
	k.push(ackFrame{Type: "ack", CMID: f.CMID, Ticket: t.ID, Seq: t.Seq, Dup: dup})
	return nil
}

// cancel ends a ticket of this session; its final event tells the client.
func (k *socket) cancel(ctx context.Context, f cancelFrame) error {
	if err := need(chat.IsTicketID(f.Ticket), "ticket"); err != nil {
		return err
	}
	s, err := k.queue.Ticket(ctx, f.Ticket)
	if err == nil && (s.Tenant != k.tenant.Name || s.Session != k.session) {
		err = queue.ErrNotFound
	}
	if err == nil {
		_, err = callOff(context.WithoutCancel(ctx), k.queue, s.Ticket)
	}
	switch {
	case errors.Is(err, queue.ErrNotFound):
		k.push(errorOf("", notFound("ticket")))
	case errors.Is(err, queue.ErrEnded):
		k.push(errorOf("", &chat.Error{Kind: chat.Conflict, Code: codeEnded}))
	case errors.Is(err, queue.ErrInEffect):
		k.push(errorOf("", errInEffect()))
	case err != nil:
		k.push(errorOf("", unavailable(err)))
	}
	return nil
}

// pong answers with the head of the session's log, so that a client notices by itself
// that it is missing something.
func (k *socket) pong(ctx context.Context) error {
	s, err := k.queue.Session(ctx, k.tenant.Name, k.session)
	if err != nil {
		k.unavailable(err)
		return nil
	}
	k.push(pongFrame{Type: "pong", Head: s.Seq})
	return nil
}

// tooFast returns how long a message comes too early: for its socket, or for its address.
func (k *socket) tooFast() time.Duration {
	now := time.Now()
	slot := k.sends.ReserveN(now, 1)
	wait := slot.DelayFrom(now)
	if wait == 0 && k.address != nil {
		whole := k.address.sends.ReserveN(now, 1)
		if wait = whole.DelayFrom(now); wait > 0 {
			whole.CancelAt(now)
		}
	}
	if wait > 0 {
		slot.CancelAt(now)
	}
	return wait
}
