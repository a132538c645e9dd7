package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
)

func TestALowerBoundDeletesNoJob(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		ids := map[string]bool{}
		for range 10 {
			ids[w.accept(message("s", "hello")).ID] = true
		}
		w.cfg.Bounds[chat.Normal] = 4
		w.Queue = w.open()
		w.depth(chat.Normal, 10)
		for done := range 10 {
			_, _, err := w.Accept(t.Context(), message("more", "hello"), Claim{})
			if full := errors.Is(err, ErrFull); full != (10-done >= 4) {
				t.Fatalf("with %d of a bound of 4: %v", 10-done, err)
			}
			if err == nil {
				break
			}
			j := w.pull(chat.Normal)
			if !ids[j.Ticket.ID] {
				t.Fatalf("%s was not accepted", j.Ticket.ID)
			}
			delete(ids, j.Ticket.ID)
			if _, err := w.End(t.Context(), j, answered(w.run(j), "yes")); err != nil {
				t.Fatal(err)
			}
		}
		w.depth(chat.Normal, 4)
	})
}

func TestAFreshStartDeliversWhatADeadProcessHeld(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		w.run(w.pull(chat.Normal))
		w.Queue = w.open()
		if jobs := w.try(chat.Normal, 1); len(jobs) > 0 {
			t.Fatal("another process got a job that is held")
		}
		w.cfg.Fresh = true
		w.Queue = w.open()
		j := w.pull(chat.Normal)
		if s := w.run(j); j.Ticket.ID != m.ID || s.Attempts != 2 {
			t.Errorf("got %s at attempt %d", j.Ticket.ID, s.Attempts)
		}
	})
}

func TestWhatIsAcceptedSurvivesTheServer(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		w.nc.Close()
		queuetest.Stop(w.server)
		var err error
		if w.server, err = StartServer(t.Context(), ServerConfig{Dir: w.dir, Sync: queuetest.Rarely}); err != nil {
			t.Fatal(err)
		}
		defer queuetest.Stop(w.server)
		if w.nc, err = w.server.Dial(); err != nil {
			t.Fatal(err)
		}
		defer w.nc.Close()
		w.Queue = w.open()
		w.wantSeqs("s", 0, 1)
		if got := w.finish(chat.Normal, "yes"); got.ID != m.ID {
			t.Errorf("got %s", got.ID)
		}
	})
}

// A pull whose taker stops while jobs are on their way to it.
func TestAPullThatIsToStopLosesNoJob(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		const rounds, each = 25, 4
		for round := range rounds {
			ctx, stop := context.WithCancel(t.Context())
			var taken []*Job
			pulled := make(chan error, 1)
			go func() {
				pulled <- w.Pull(ctx, chat.Normal, PullSize, time.Second, func(j *Job) { taken = append(taken, j) })
			}()
			time.Sleep(10 * time.Millisecond)
			go stop()
			for i := range each {
				w.accept(message(fmt.Sprintf("s%d-%d", round, i), "hello"))
			}
			if err := <-pulled; err != nil {
				t.Fatal(err)
			}
			time.Sleep(handBackAfter + 10*time.Millisecond)
			all := append(taken, w.try(chat.Normal, PullSize)...)
			if len(all) != each {
				t.Fatalf("round %d: %d of %d jobs are to be had", round, len(all), each)
			}
			for _, j := range all {
				if _, err := w.End(t.Context(), j, answered(w.run(j), "yes")); err != nil {
					t.Fatal(err)
				}
			}
			stop()
		}
	})
}

func TestAMissingJetStreamIsSaid(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if err := w.Ready(t.Context()); err != nil {
			t.Errorf("ready: %v", err)
		}
		ctx, cancel := contextAfter(t, time.Second)
		defer cancel()
		w.nc.Close()
		if err := w.Ready(ctx); err == nil {
			t.Error("ready without a connection")
		}
		_, _, err := w.Accept(ctx, message("s", "hello"), Claim{})
		if err == nil || errors.Is(err, ErrFull) {
			t.Errorf("accept without a connection: %v", err)
		}
	})
}

func TestConfigNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 1
	}
	for want, cfg := range map[string]interface{ Validate() error }{
		"Bounds[high] must be at least 1, is 0": Config{},
		"must not be negative":                  Config{Bounds: bounds, KeepKey: -1},
		"Dir is empty":                          ServerConfig{},
		"MaxStore, MaxMemory and Sync":          ServerConfig{Dir: "x", MaxStore: -1},
	} {
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
}
