package load

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sluice/internal/sim"
)

const (
	sampleEvery = 250 * time.Millisecond
	maxSamples  = 1 << 15 // more than two hours
)

// watch reads the simulator's statistics while a burst runs. After run has returned, its
// samples belong to the caller.
type watch struct {
	client  *client
	base    string
	samples []sample
	missed  int // reads that went wrong
}

// sample is one look at all vendors.
type sample struct {
	at    time.Time
	stats map[string]sim.Stats
}

func newWatch(c *client, base string) *watch {
	return &watch{client: c, base: strings.TrimRight(base, "/")}
}

// reset empties the statistics, so that the largest number in flight is that of this run.
func (w *watch) reset(ctx context.Context) error {
	return w.look(ctx, http.MethodPost, "/sim/reset")
}

// run takes samples until ctx ends, and then the last one.
func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if len(w.samples) == maxSamples {
				w.samples = w.samples[:maxSamples-1] // the newest always counts
			}
			if w.look(ctx, http.MethodGet, "/sim/stats") != nil && ctx.Err() == nil {
				w.missed++
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			if w.look(last, http.MethodGet, "/sim/stats") != nil {
				w.missed++
			}
			return
		}
	}
}

func (w *watch) look(ctx context.Context, method, path string) error {
	var stats map[string]sim.Stats
	if err := w.client.call(ctx, call{method: method, url: w.base + path}, &stats); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	w.samples = append(w.samples, sample{at: time.Now(), stats: stats})
	return nil
}

// last returns the newest statistics.
func (w *watch) last() map[string]sim.Stats {
	if w == nil || len(w.samples) == 0 {
		return nil
	}
	return w.samples[len(w.samples)-1].stats
}

// use returns the mean number of a vendor's calls in flight, and how many it completed,
// from one instant to another. Between two samples both are taken to change evenly.
func (w *watch) use(vendor string, from, to time.Time) (mean, completed float64) {
	for i := 1; i < len(w.samples); i++ {
		a, b := w.samples[i-1], w.samples[i]
		span := b.at.Sub(a.at).Seconds()
		begin, end := later(a.at, from), earlier(b.at, to)
		part := end.Sub(begin).Seconds()
		if span <= 0 || part <= 0 {
			continue
		}
		x, y := a.stats[vendor], b.stats[vendor]
		middle := begin.Sub(a.at).Seconds() + part/2
		inFlight := float64(x.InFlight) + float64(y.InFlight-x.InFlight)*middle/span
		mean += inFlight * part
		completed += float64(y.Completed-x.Completed) * part / span
	}
	if whole := to.Sub(from).Seconds(); whole > 0 {
		mean /= whole
	}
	return mean, completed
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
