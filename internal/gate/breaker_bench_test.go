package gate

import (
	"testing"
	"time"
)

// BenchmarkBreaker is what the gate adds for one call, by state: asking, beginning and
// ending, with 48 others under way.
func BenchmarkBreaker(b *testing.B) {
	for name, bring := range map[string]func(*ward){
		"closed": func(*ward) {},
		"ramp":   func(w *ward) { w.rampUntil = w.now.Add(1000 * time.Hour) },
		"half open": func(w *ward) {
			w.Trip(w.now)
			w.pass(30 * time.Second)
			w.SetConfig(BreakerConfig{Probes: 1 << 40, ProbeFor: 1000 * time.Hour})
		},
	} {
		b.Run(name, func(b *testing.B) {
			w := newWard(BreakerConfig{})
			bring(w)
			if name != "half open" { // there, others under way would be probes
				for range 48 {
					w.begin()
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				w.pass(time.Millisecond)
				if w.Allow(w.now, 0, 48) {
					w.end(w.begin(), Good)
				}
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		w := newWard(BreakerConfig{})
		w.Trip(w.now)
		b.ReportAllocs()
		for b.Loop() {
			if w.Allow(w.now, 0, 48) {
				b.Fatal("a call goes")
			}
		}
	})
}

// BenchmarkTokenWindow is one call's reservation and settlement in a full minute of
// six calls a second.
func BenchmarkTokenWindow(b *testing.B) {
	w := NewTokenWindow(1_000_000)
	now, id := begin, uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		now, id = now.Add(166*time.Millisecond), id+1
		if w.Room(now, 2500) {
			w.Take(id, 2500, now)
		}
		w.Settle(max(id, 48)-48, 1200, now)
	}
}

// BenchmarkCallWindow is one call in a full second of 500 of them.
func BenchmarkCallWindow(b *testing.B) {
	w := NewCallWindow(500)
	now := begin
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		if w.Room(now) {
			w.Take(now)
		}
	}
}
