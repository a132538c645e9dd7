package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/api"
	"sluice/internal/chat"
	"sluice/internal/control"
	"sluice/internal/queue"
	"sluice/internal/rules"
	"sluice/worker"
)

// heed keeps the gate, the vendors' clients and the controller to the rules in force and
// to the states of the lanes, as both change. It is safe for concurrent use.
type heed struct {
	live  *live
	lanes *queue.Lanes
	line  *line
	fleet *fleet
	log   zerolog.Logger

	mu sync.Mutex // one change at a time, each to what holds by then
}

// hook has changes heeded from now on. It comes before anything runs.
func (h *heed) hook() {
	h.live.onChange(h.vendors)
	h.lanes.OnChange(func(chat.Lane, chat.LaneState) { h.limits() })
}

// vendors takes over the vendors of new rules. Their clients come first: a permit that is
// granted under the new limits meets a vendor that can be called.
func (h *heed) vendors(r *rules.Rules) {
	backends, err := h.fleet.follow(r)
	if err != nil {
		h.log.Error().Err(err).Msg("vendors of the new rules cannot be called, the former ones are")
	} else {
		h.fleet.model.Follow(backends)
	}
	h.limits()
}

// limits gives the controller the limits in force.
func (h *heed) limits() {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.live.rules()
	cfg := limits(r)
	for lane, l := range cfg.Lanes {
		l.Paused = h.lanes.State(lane) == chat.LanePaused
		cfg.Lanes[lane] = l
	}
	if err := h.line.control.SetLimits(cfg, quotas(r)); err != nil {
		h.log.Error().Err(err).Msg("limits of the new rules cannot be put into force, the former ones hold")
	}
	h.line.control.SetValve(levels(r))
}

// liveWorker answers without a model by the rules in force.
type liveWorker struct {
	*worker.Worker
	live *live
}

func (w liveWorker) Fallback(t *chat.Ticket, reason chat.Reason) chat.Answer {
	return w.live.answer(t, reason)
}

// steered tells operators of the vendors and does their word, through the controller.
type steered struct{ member *control.Member }

// States implements api.Vendors.
func (s steered) States(context.Context) (map[string]api.VendorState, error) {
	told, err := s.member.VendorStates()
	if err != nil {
		return nil, err
	}
	demands, _ := s.member.Demands() // as of the same word of the controller, or nobody knows
	all := map[string]api.VendorState{}
	for name, v := range told {
		s := api.VendorState{InUse: v.InUse, Limit: v.Limit, Breaker: string(v.State)}
		if pause := v.Throttle.PauseFor; pause > 0 {
			until := time.Now().Add(pause).UTC().Truncate(time.Second)
			s.PausedUntil = &until
		}
		s.Demand = demand(&v, demands[name])
		all[name] = s
	}
	return all, nil
}

// Running implements api.Vendors.
func (s steered) Running(context.Context) (map[chat.Lane]int, error) { return s.member.Running() }

// Levels implements api.Vendors.
func (s steered) Levels(ctx context.Context) (map[chat.Lane]int, []api.LevelChange, error) {
	changes, err := s.member.Changes(ctx)
	all := make([]api.LevelChange, len(changes))
	for i, c := range changes {
		all[i] = api.LevelChange(c)
	}
	return s.member.Levels(), all, err
}

// OpenBreaker implements api.Vendors.
func (s steered) OpenBreaker(ctx context.Context, vendor string) error {
	return s.steer(ctx, vendor, true)
}

// CloseBreaker implements api.Vendors.
func (s steered) CloseBreaker(ctx context.Context, vendor string) error {
	return s.steer(ctx, vendor, false)
}

func (s steered) steer(ctx context.Context, vendor string, open bool) error {
	err := s.member.Steer(ctx, vendor, open)
	if errors.Is(err, control.ErrUnknown) {
		return errors.Join(err, queue.ErrNotFound)
	}
	return err
}
