package bell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/internal/alert"
	"sluice/internal/queue"
)

// look judges how things stand, where it is this process's turn, and has what is due sent.
// What was written before a process dies is found by the next one; what was not is found anew.
func (b *Bell) look(ctx, trying context.Context) error {
	mine, err := b.queue.Duty(ctx, "alerts", lookEvery)
	if err != nil || !mine {
		return err
	}
	before, rev, err := b.load(ctx)
	if err != nil {
		return err
	}
	watched, err := b.queue.AlertWatch(ctx)
	if err != nil {
		return err
	}
	var watch alert.Watch
	if watched != nil {
		if err := json.Unmarshal(watched, &watch); err != nil {
			return fmt.Errorf("decode what is watched: %w", err)
		}
	}
	now := time.Now().UTC()
	reading := b.cfg.Read(ctx, before)
	reading.At = now
	if err := b.present(ctx, &reading); err != nil {
		b.rest.Warn().Err(err).Msg("nobody knows which processes there are")
	}
	hooks := b.cfg.Hooks()
	after, watch := alert.Judge(b.cfg.Rules(), before, watch, reading)
	after = after.Plan(ids(hooks), b.cfg.Repeat(), now)
	if err := b.keep(ctx, before, after, rev); err != nil {
		if errors.Is(err, queue.ErrLost) {
			return nil // somebody else wrote: the next look begins with that
		}
		return err
	}
	body, err := json.Marshal(watch)
	if err != nil {
		return fmt.Errorf("encode what is watched: %w", err)
	}
	if !bytes.Equal(body, watched) && (watched != nil || len(watch.Pending)+len(watch.Calm) > 0) {
		if err := b.queue.SetAlertWatch(ctx, body); err != nil {
			return err
		}
	}
	for _, m := range after.Due(time.Now()) {
		for _, h := range hooks {
			if h.ID == m.Hook {
				b.tries.Go(func() { b.try(trying, h, m.ID) })
			}
		}
	}
	return nil
}

// keep stores the state if it has changed, and then tells the log what fires and what ended.
func (b *Bell) keep(ctx context.Context, before, after alert.State, rev uint64) error {
	was, err := json.Marshal(before.Clone())
	if err != nil {
		return fmt.Errorf("encode the alerts: %w", err)
	}
	is, err := json.Marshal(after)
	if err != nil {
		return fmt.Errorf("encode the alerts: %w", err)
	}
	if bytes.Equal(was, is) {
		return nil
	}
	if err := b.queue.SetAlerts(ctx, is, rev); err != nil {
		return err
	}
	for key, a := range after.Firing {
		if old, fired := before.Firing[key]; !fired || !old.Since.Equal(a.Since) {
			b.log.Warn().Str("alert", string(a.Name)).Str("target", a.Target).Float64("value", a.Value).Float64("threshold", a.Threshold).Msg("alert")
		}
	}
	for key, a := range before.Firing {
		if now, fires := after.Firing[key]; !fires || !now.Since.Equal(a.Since) {
			b.log.Info().Str("alert", string(a.Name)).Str("target", a.Target).Msg("alert ended")
		}
	}
	return nil
}

// try makes one try of a message that waits, unless somebody else has begun it.
func (b *Bell) try(ctx context.Context, h Hook, id string) {
	var m alert.Send
	var mine bool
	err := b.write(ctx, func(s alert.State) (alert.State, bool) {
		s, m, mine = s.Begin(id, time.Now().UTC())
		return s, mine
	})
	if err != nil || !mine {
		if err != nil {
			b.rest.Warn().Err(err).Str("webhook", h.ID).Msg("an alert is not told yet")
		}
		return
	}
	limited, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	now := time.Now().UTC()
	fault, pause := h.send(limited, b.cfg.Sender, m, b.cfg.Link, now)
	err = b.write(ctx, func(s alert.State) (alert.State, bool) {
		return s.Done(id, fault, pause, time.Now().UTC()), true
	})
	line := b.log.Info()
	if err != nil {
		line = b.log.Warn().Err(err)
	}
	line.Str("webhook", h.ID).Int("firing", len(m.Firing)).Int("ended", len(m.Ended)).Int("attempt", m.Tries).Str("fault", fault).Msg("alerts told")
}

// write is update for somebody whose work may have been cut short.
func (b *Bell) write(ctx context.Context, change func(alert.State) (alert.State, bool)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	return b.update(ctx, change)
}
