package pulse

import (
	"context"
	"crypto/rand"
	"math"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/queue"
)

// Times of a board.
const (
	minute     = time.Minute
	learnLimit = time.Second     // how long the others may take to tell of their hour
	listenPace = time.Second     // between two tries to hear the others
	gaugeLimit = 3 * time.Second // how long it may take to read how everything stands
)

// Gauges reads how everything stands at one moment, by the names of its charts. What is not
// known is left out.
type Gauges func(ctx context.Context) map[string]float64

// Board adds up what all processes count, for one api node. It is safe for concurrent use.
type Board struct {
	name  string // of this board, among all
	queue *queue.Queue
	log   zerolog.Logger

	mu      sync.Mutex // guards the rest
	sum     *Sum
	hour    *Hour
	recent  []mark // of the last minute, oldest first
	closed  Total  // the sums when the running step began
	running int64  // number of the step that is not over
	whole   int64  // the first step that is seen from its beginning
	learnAt time.Time
	changed chan struct{} // closed when a step is over
}

// mark is the sums at one moment.
type mark struct {
	at    time.Time
	total Total
}

// NewBoard returns a board that has heard nothing.
func NewBoard(q *queue.Queue, log zerolog.Logger) *Board {
	now := time.Now()
	return &Board{
		name: rand.Text(), queue: q, log: log.With().Str("stage", "pulse").Logger(), sum: NewSum(now), hour: NewHour(),
		closed: newTotal(), running: stepOf(now), whole: stepOf(now) + 1, changed: make(chan struct{}),
	}
}

// Run listens to all processes and draws the charts until ctx ends. It may be called once.
func (b *Board) Run(ctx context.Context, gauges Gauges) {
	b.learn(ctx)
	stop := b.listen(ctx)
	defer stop()
	for pause(ctx, untilTick(time.Now())) {
		now := time.Now()
		if step := b.tick(now); step > 0 {
			b.draw(ctx, step, gauges)
		}
		if b.learnDue(now) {
			b.learn(ctx)
		}
	}
}

// listen hears the beats of all processes and answers the questions of other boards, once
// the engine lets it.
func (b *Board) listen(ctx context.Context) (stop func()) {
	for said := false; ; said = true {
		stop, err := b.subscribe()
		if err == nil {
			return stop
		}
		if !said {
			b.log.Warn().Err(err).Msg("the other processes are not heard, trying again")
		}
		if !pause(ctx, listenPace) {
			return func() {}
		}
	}
}

func (b *Board) subscribe() (stop func(), err error) {
	deaf, err := b.queue.Pulses(b.hear)
	if err != nil {
		return nil, err
	}
	mute, err := b.queue.TellHistory(b.tell)
	if err != nil {
		deaf()
		return nil, err
	}
	return func() { mute(); deaf() }, nil
}

// hear takes in a beat.
func (b *Board) hear(body []byte) {
	beat, err := decode(body)
	if err != nil {
		b.log.Debug().Err(err).Msg("pulse dropped")
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sum.Take(beat, time.Now())
}

// tick marks the sums at now. It returns the number of the step that has ended, 0: none. If
// more than one has, this process was suspended, and nobody here knows what came when.
func (b *Board) tick(now time.Time) (ended int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recent = append(b.recent, mark{now, b.sum.Total().clone()})
	for len(b.recent) > 1 && now.Sub(b.recent[1].at) >= minute {
		b.recent = b.recent[1:]
	}
	step := stepOf(now)
	switch {
	case step <= b.running:
		return 0
	case step > b.running+1:
		b.whole, b.learnAt = step+1, now.Add(2*beatEvery)
		b.running, b.closed = step, b.sum.Total().clone()
		return 0
	case b.running < b.whole: // its beginning was missed: who saw all of it has closed it soon
		b.learnAt = now.Add(2 * beatEvery)
	}
	ended, b.running = b.running, step
	return ended
}

// draw enters a step that has ended into the charts.
func (b *Board) draw(ctx context.Context, step int64, gauges Gauges) {
	b.mu.Lock()
	now := b.sum.Total().clone()
	grown := now.since(b.closed)
	last := b.minute()
	_, sockets := b.sum.Live(time.Now())
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, gaugeLimit)
	defer cancel()
	values := gauges(ctx)
	if values == nil {
		values = map[string]float64{}
	}
	values["sockets"] = float64(sockets)
	for name, n := range grown.Counts {
		values[name] = float64(n)
	}
	for name, s := range last.Spreads {
		for part, q := range map[string]float64{"p50_ms": 0.5, "p95_ms": 0.95} {
			if d, ok := s.Quantile(q); ok {
				values[chartOf(name, part)] = math.Round(float64(d) / float64(time.Millisecond))
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = now
	b.hour.put(step, values)
	close(b.changed)
	b.changed = make(chan struct{})
}

// minute returns what was counted in the last minute. The caller holds mu.
func (b *Board) minute() Total {
	if len(b.recent) == 0 {
		return b.sum.Total().clone()
	}
	return b.sum.Total().since(b.recent[0].total)
}

// untilTick returns how long it is until the next whole beat of the clock, so that steps are
// closed as they end.
func untilTick(now time.Time) time.Duration {
	return now.Truncate(beatEvery).Add(beatEvery).Sub(now)
}

// pause waits, and reports whether ctx still goes on then.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
