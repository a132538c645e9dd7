package cache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// source loads texts and counts how often.
type source struct {
	loads atomic.Int32
	takes time.Duration
	err   error
	empty bool
}

func (s *source) load(ctx context.Context) (string, error) {
	value := fmt.Sprint(s.loads.Add(1))
	if s.empty {
		value = ""
	}
	select {
	case <-time.After(s.takes):
		return value, s.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (s *source) wants(t *testing.T, c *Cache[string], key Key, want string, loads int32) {
	t.Helper()
	before, began := s.loads.Load(), time.Now()
	got, err := c.Get(t.Context(), key, s.load)
	if err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if waited := time.Since(began); before == s.loads.Load() && waited != 0 {
		t.Errorf("%q came after %s, want at once", got, waited)
	}
	synctest.Wait()
	if got := s.loads.Load(); got != loads {
		t.Errorf("%d loads, want %d", got, loads)
	}
}

func TestAStaleValueIsGivenAtOnceAndOneRefreshReplacesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, key := newCache(t, nil), &source{takes: time.Second}, keyOf(t, "q")
		s.wants(t, c, key, "1", 1)
		time.Sleep(time.Minute - time.Nanosecond)
		s.wants(t, c, key, "1", 1)
		time.Sleep(time.Nanosecond)
		began := time.Now()
		for range 100 {
			if got, err := c.Get(t.Context(), key, s.load); got != "1" || err != nil {
				t.Fatalf("%q, %v", got, err)
			}
		}
		if time.Since(began) != 0 {
			t.Error("somebody waited for the refresh")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		s.wants(t, c, key, "2", 2)
		if got, want := c.Counts(), (Counts{Hit: 2, Stale: 100, Miss: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestAFailedRefreshKeepsTheValueAndIsTriedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, key := newCache(t, nil), &source{}, keyOf(t, "q")
		s.wants(t, c, key, "1", 1)
		time.Sleep(time.Minute)
		s.err = errors.New("away")
		began := time.Now()
		var tried []time.Duration
		for time.Since(began) < 5*time.Minute {
			before := s.loads.Load()
			if got, err := c.Get(t.Context(), key, s.load); got != "1" || err != nil {
				t.Fatalf("%q, %v", got, err)
			}
			synctest.Wait()
			if s.loads.Load() != before {
				tried = append(tried, time.Since(began).Round(time.Second))
			}
			time.Sleep(100 * time.Millisecond)
		}
		want := []time.Duration{0, 1, 3, 7, 15, 31, 63, 123, 183, 243} // doubled, then once a minute
		if len(tried) != len(want) {
			t.Fatalf("tried at %v", tried)
		}
		for i := range want {
			if tried[i] != want[i]*time.Second {
				t.Errorf("try %d at %s, want %d s", i, tried[i], want[i])
			}
		}
		if got := c.Counts(); got.Failed != uint64(len(want)) {
			t.Errorf("%d failures are counted", got.Failed)
		}
		s.err = nil
		time.Sleep(time.Minute)
		s.wants(t, c, key, "1", int32(len(want))+2)
		s.wants(t, c, key, fmt.Sprint(len(want)+2), int32(len(want))+2)
	})
}

func TestNoRefreshIsTriedWhileLoadsWouldFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := true
		c := newCache(t, func(cfg *Config[string]) { cfg.Away = func() bool { return away } })
		s, key := &source{}, keyOf(t, "q")
		s.wants(t, c, key, "1", 1)
		time.Sleep(time.Hour)
		for range 10 {
			s.wants(t, c, key, "1", 1)
		}
		away = false
		s.wants(t, c, key, "1", 2)
		s.wants(t, c, key, "2", 2)
	})
}

func TestAValueThatIsTooOldIsNotGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, key := newCache(t, func(cfg *Config[string]) { cfg.Stale = time.Hour }), &source{}, keyOf(t, "q")
		s.wants(t, c, key, "1", 1)
		time.Sleep(time.Minute + time.Hour - 1)
		s.wants(t, c, key, "1", 2)
		time.Sleep(time.Minute + time.Hour)
		s.wants(t, c, key, "3", 3)
	})
}

func TestAnEmptyResultIsKeptForAShortTimeAndNeverStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, key := newCache(t, nil), &source{empty: true}, keyOf(t, "q")
		s.wants(t, c, key, "", 1)
		time.Sleep(10*time.Second - 1)
		s.wants(t, c, key, "", 1)
		time.Sleep(time.Nanosecond)
		s.wants(t, c, key, "", 2)
		if got, want := c.Counts(), (Counts{Empty: 1, Miss: 2}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestJitterOnlyShortens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, func(cfg *Config[string]) { cfg.Jitter = func() time.Duration { return 20 * time.Second } })
		until := map[time.Duration]int{}
		for i := range 200 {
			key := keyOf(t, fmt.Sprint(i))
			c.Put(key, "v")
			left := time.Until(c.entry(key, time.Now()).freshUntil)
			if left > time.Minute || left < 40*time.Second {
				t.Fatalf("fresh for %s", left)
			}
			until[left.Truncate(time.Second)]++
		}
		if len(until) < 10 {
			t.Errorf("the times are %v", until)
		}
	})
}

func TestNothingIsKeptWhereTheRulesSaySo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keep := time.Duration(0)
		c := newCache(t, func(cfg *Config[string]) { cfg.Keep = func() time.Duration { return keep } })
		s, key := &source{}, keyOf(t, "q")
		s.wants(t, c, key, "1", 1)
		s.wants(t, c, key, "2", 2)
		keep = time.Second
		s.wants(t, c, key, "3", 3)
		s.wants(t, c, key, "3", 3)
	})
}

func TestTheConfigNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	good := Config[string]{Name: "n", Bound: 1, Keep: func() time.Duration { return 0 }}
	for name, change := range map[string]func(*Config[string]){
		"Name": func(c *Config[string]) { c.Name = "" }, "Bound": func(c *Config[string]) { c.Bound = 0 },
		"Keep": func(c *Config[string]) { c.Keep = nil }, "Stale": func(c *Config[string]) { c.Limit = -1 },
	} {
		cfg := good
		change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s may be wrong", name)
		}
	}
	c, err := New(good)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
