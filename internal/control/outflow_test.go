package control

import (
	"testing"
	"time"
)

var midday = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestAPlaceIsExpectedAsFastAsTheLaneEmpties(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		samples      int // one each 250 ms
		gone         func(i int) uint64
		depth, bound int
		want         time.Duration
		unknown      bool
	}{
		{"nothing is known", 0, nil, 0, 10, 0, true},
		{"one look", 1, func(int) uint64 { return 7 }, 10, 10, 0, true},
		{"three quarters of a second", 4, func(i int) uint64 { return uint64(i) }, 10, 10, 0, true},
		{"four a second", 5, func(i int) uint64 { return uint64(i) }, 10, 10, 250 * time.Millisecond, false},
		{"the same over minutes", 1000, func(i int) uint64 { return uint64(i) }, 10, 10, 250 * time.Millisecond, false},
		{"one in ten seconds", 121, func(i int) uint64 { return uint64(i / 40) }, 10, 10, 10 * time.Second, false},
		{"three places above a bound that fell", 121, func(i int) uint64 { return uint64(i) }, 12, 10, 750 * time.Millisecond, false},
		{"a place is free again", 121, func(i int) uint64 { return uint64(i) }, 3, 10, 250 * time.Millisecond, false},
		{"nothing has left it yet", 120, func(int) uint64 { return 9 }, 10, 10, 0, true},
		{"nothing leaves it", 121, func(int) uint64 { return 9 }, 10, 10, 30 * time.Second, false},
		{"what was before does not count", 400, func(i int) uint64 { return uint64(min(i, 200)) }, 10, 10, 30 * time.Second, false},
		{"another stream", 130, func(i int) uint64 {
			if i < 120 {
				return uint64(1000 + i)
			}
			return uint64(2 * i)
		}, 10, 10, 125 * time.Millisecond, false},
	} {
		var o outflow
		for i := range c.samples {
			o.add(c.gone(i), c.depth, c.bound, midday.Add(time.Duration(i)*lanesEvery))
		}
		if got, ok := o.room(); got != c.want || ok == c.unknown {
			t.Errorf("%s: %s, %v; want %s", c.name, got, ok, c.want)
		}
		if len(o.past) > int(outflowFor/lanesEvery)+1 {
			t.Errorf("%s: %d looks are kept", c.name, len(o.past))
		}
	}
}
