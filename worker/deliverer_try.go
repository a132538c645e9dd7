package worker

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"sluice/internal/chat"
	"sluice/internal/hook"
	"sluice/internal/trace"
)

// The tries of a webhook: for a day, each at random below a limit that grows fourfold from
// tryFirst to tryMost, so that the messages of a receiver that was away do not come at once.
const (
	tryFor   = 24 * time.Hour
	tryFirst = 5 * time.Second
	tryMost  = 4 * time.Hour
)

// backoff returns how long after the nth failed try the next one comes.
func backoff(n int, random float64) time.Duration {
	limit := min(tryFirst<<(2*min(max(n-1, 0), 8)), tryMost)
	return time.Duration(random * float64(limit))
}

// after returns a webhook as it stands after a try that ended at now. A receiver that asks for
// more time gets it, within the day.
func after(h chat.Hook, a hook.Answer, now time.Time, random float64) chat.Hook {
	h.Status, h.Fault = a.Status, a.Fault
	last := h.Since.Add(tryFor)
	switch {
	case a.Delivered():
		h.State, h.DoneAt = chat.HookDelivered, now
	case a.Gone(), !now.Before(last):
		h.State, h.DoneAt = chat.HookDead, now
	default:
		h.NextAt = now.Add(max(backoff(h.Tries, random), a.RetryAfter))
		if h.NextAt.After(last) {
			h.NextAt = last // once more, and no more after that
		}
	}
	return h
}

// try makes one try of a webhook that is due.
func (d *Deliverer) try(ctx context.Context, w *waiting) {
	d.mu.Lock()
	h := w.hook
	d.mu.Unlock()
	away, wait := false, time.Duration(0)
	at := time.Now().Add(lostPause)
	defer func() {
		d.mu.Lock()
		d.lines.done(w, time.Now(), away, wait, at)
		d.mu.Unlock()
		d.ring()
	}()
	url := d.urlOf(&h)
	if url == "" {
		d.close(ctx, w, h, chat.HookUnwanted, "its tenant has no endpoint")
		return
	}
	off, err := d.outbox.HookOff(ctx, h.Tenant, url)
	switch {
	case err != nil:
		d.log.Warn().Err(err).Str("webhook", h.ID).Msg("a webhook is not sent yet")
		return
	case off:
		d.close(ctx, w, h, chat.HookDead, "its endpoint is off: it answered 410")
		return
	}
	h.Tries++
	h.NextAt = time.Now().Add(lease)
	if h, err = d.write(ctx, w, h); err != nil {
		return // somebody else has it, or the engine is away
	}
	at = h.NextAt
	a, ok := d.send(ctx, w, h, url)
	if !ok {
		return
	}
	if a.Gone() {
		if err := d.outbox.TurnHookOff(ctx, chat.HookOff{Tenant: h.Tenant, URL: url, At: time.Now().UTC()}); err != nil {
			d.log.Warn().Err(err).Str("webhook", h.ID).Msg("an endpoint that is gone is not known as such")
		}
	}
	away, wait = a.Away(), a.RetryAfter
	done := after(h, a, time.Now(), d.cfg.Random())
	if done, err = d.write(ctx, w, done); err != nil {
		d.log.Warn().Err(err).Str("webhook", h.ID).Msg("what came of a webhook's try is not noted, it is tried again")
		return
	}
	at = done.NextAt
	d.log.Info().Str("webhook", h.ID).Str("tenant", h.Tenant).Str("type", string(h.Type)).Str("ticket", h.About).
		Str("state", string(done.State)).Int("status", a.Status).Str("fault", a.Fault).Int("attempt", h.Tries).Msg("webhook")
}

// send makes the call. False: it could not be made, for a reason of ours.
func (d *Deliverer) send(ctx context.Context, w *waiting, h chat.Hook, url string) (hook.Answer, bool) {
	body, err := d.outbox.HookBody(ctx, h.ID)
	if err != nil {
		d.log.Warn().Err(err).Str("webhook", h.ID).Msg("a webhook is not sent yet")
		return hook.Answer{}, false
	}
	if body == nil {
		d.close(ctx, w, h, chat.HookDead, "its body is kept no more")
		return hook.Answer{}, false
	}
	now := time.Now()
	secrets, err := d.cfg.Secrets(ctx, h.Tenant, now)
	if err != nil {
		d.log.Warn().Err(err).Str("webhook", h.ID).Msg("a webhook cannot be signed yet")
		return hook.Answer{}, false
	}
	ctx, span := trace.Start(trace.Of(ctx, h.About), "webhook", oteltrace.SpanKindProducer,
		attribute.String("sluice.webhook", h.ID), attribute.String("sluice.type", string(h.Type)), attribute.Int("sluice.attempt", h.Tries))
	answer := d.cfg.Sender.Send(ctx, hook.Message{ID: h.ID, URL: url, Body: body, Secrets: secrets}, now)
	trace.Finish(span, answer.Fault, answer.Fault != "", attribute.Int("http.response.status_code", answer.Status))
	return answer, true
}

// close ends a webhook that is not tried any more.
func (d *Deliverer) close(ctx context.Context, w *waiting, h chat.Hook, state chat.HookState, why string) {
	h.State, h.Fault, h.DoneAt = state, why, time.Now()
	if _, err := d.write(ctx, w, h); err != nil {
		d.log.Warn().Err(err).Str("webhook", h.ID).Msg("a webhook is not closed yet")
	}
}

// write writes an entry and takes it over, which also tells that it waits no more.
func (d *Deliverer) write(ctx context.Context, w *waiting, h chat.Hook) (chat.Hook, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	h, err := d.outbox.SetHook(ctx, h)
	if err == nil {
		d.mu.Lock()
		d.lines.note(h)
		d.mu.Unlock()
	}
	return h, err
}
