package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
)

// dial starts a server in the bubble and returns a connection to it.
func dial(t *testing.T) *nats.Conn {
	t.Helper()
	server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); server.Stop() })
	return nc
}

func TestOneProcessOpensTheStreamsAtATime(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		store, err := queue.OpenRules(t.Context(), dial(t), 1)
		if err != nil {
			t.Fatal(err)
		}
		one, two := store.Opening(), store.Opening()
		opened := 0
		count := func() error { opened++; return nil }
		err = one.Do(t.Context(), func() error {
			if two.Do(t.Context(), count) == nil {
				t.Error("two opened at once")
			}
			return errors.New("not enough nodes")
		})
		if err == nil || opened != 0 {
			t.Errorf("err %v, opened %d; want the fault, and nothing opened", err, opened)
		}
		for _, o := range []*queue.Opening{two, one, two} {
			if err := o.Do(t.Context(), count); err != nil {
				t.Error(err)
			}
		}
		// One that died in the middle of it is waited for, but not for ever.
		ctx, die := context.WithCancel(t.Context())
		dead := store.Opening()
		begun := make(chan struct{})
		go func() {
			_ = dead.Do(ctx, func() error { close(begun); <-ctx.Done(); time.Sleep(time.Hour); return nil })
		}()
		<-begun
		died := time.Now()
		die()
		for one.Do(t.Context(), count) != nil {
			time.Sleep(time.Second)
		}
		if took := time.Since(died); took < 20*time.Second || took > 22*time.Second {
			t.Errorf("the dead one was waited for %s, want 20 s", took)
		}
		time.Sleep(2 * time.Hour)
		if opened != 4 {
			t.Errorf("opened %d times, want 4", opened)
		}
	})
}

func TestADutyIsDoneByOneProcessInEachPeriod(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		nc := dial(t)
		bounds := map[chat.Lane]int{}
		for _, l := range chat.Lanes() {
			bounds[l] = 10
		}
		one, err := queue.Open(t.Context(), nc, queue.Config{Bounds: bounds})
		if err != nil {
			t.Fatal(err)
		}
		two, err := queue.Open(t.Context(), nc, queue.Config{Bounds: bounds})
		if err != nil {
			t.Fatal(err)
		}
		for period := range 3 {
			done := 0
			for _, q := range []*queue.Queue{one, two, one} {
				mine, err := q.Duty(t.Context(), "repair", time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				if mine {
					done++
				}
			}
			if done != 1 {
				t.Errorf("period %d: done by %d, want 1", period, done)
			}
			time.Sleep(time.Minute)
		}
	})
}
