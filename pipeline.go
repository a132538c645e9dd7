package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
)

// stage is one part of the process. run blocks until everything that it started has
// ended: it ends soon after its context does, and finishes first what it holds.
type stage struct {
	name  string
	run   func(ctx context.Context) error
	ready <-chan struct{} // closed when the stage works; nil: at once
}

// stopTimeout is how long all stages together may take to finish what they hold.
const stopTimeout = 28 * time.Second

// pipeline is the stages in the order in which a message travels. They start last to
// first, so that whatever a stage gives on is taken; and stop first to last, each
// drained before the next one stops.
type pipeline struct {
	stages []stage
	log    zerolog.Logger
}

// running is a stage at work.
type running struct {
	stage
	stop  context.CancelFunc
	ended chan error
}

// run starts every stage and calls up when all are ready. It returns when ctx has ended
// or a stage has failed, and every stage has been stopped. A stage that does not end in
// time is named in the error.
func (p pipeline) run(ctx context.Context, up func()) error {
	failed := make(chan error, len(p.stages))
	var started []*running // in the order of starting: last stage first
	var fault error
	for i := len(p.stages) - 1; i >= 0 && fault == nil; i-- {
		r := start(ctx, p.stages[i], failed)
		started = append(started, r)
		fault = r.await(ctx, failed)
	}
	if fault == nil && ctx.Err() == nil {
		up()
		select {
		case <-ctx.Done():
		case fault = <-failed:
		}
	}
	return errors.Join(fault, p.stop(started))
}

func start(ctx context.Context, s stage, failed chan<- error) *running {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &running{stage: s, stop: stop, ended: make(chan error, 1)}
	go func() {
		err := s.run(ctx)
		if ctx.Err() == nil {
			if err == nil {
				err = errors.New("ended by itself")
			}
			failed <- fmt.Errorf("%s: %w", s.name, err)
			err = nil
		}
		if errors.Is(err, context.Canceled) {
			err = nil // a stage that was stopped while it started
		}
		r.ended <- err
	}()
	return r
}

// await waits until the stage works. A process that is told to stop meanwhile goes on
// to its stop, which is no fault.
func (r *running) await(ctx context.Context, failed <-chan error) error {
	if r.ready == nil {
		return nil
	}
	select {
	case <-r.ready:
		return nil
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// stop stops the stages that were started, first to last.
func (p pipeline) stop(started []*running) error {
	limit := time.NewTimer(stopTimeout)
	defer limit.Stop()
	var faults []error
	for i := len(started) - 1; i >= 0; i-- {
		r := started[i]
		begun := time.Now()
		r.stop()
		select {
		case err := <-r.ended:
			if err != nil {
				faults = append(faults, fmt.Errorf("stop %s: %w", r.name, err))
			}
			p.log.Debug().Str("stage", r.name).Int64("took_ms", time.Since(begun).Milliseconds()).Msg("stopped")
		case <-limit.C:
			return errors.Join(append(faults, fmt.Errorf("stop %s: not drained within %s", r.name, stopTimeout))...)
		}
	}
	return errors.Join(faults...)
}
