package load

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	meterEvery = time.Second
	maxLooks   = 4 * 3600 // opening, rest, talk and answers: the longest load there is
)

// moment is one that a meter reads for itself.
type moment int

const (
	atStart  moment = iota // no socket is open
	atOpen                 // all are
	atRest                 // and have idled
	atTalked               // the last message was sent
	atEnd                  // all are closed
	moments
)

// usage is what the process of the instance used, as its own page /metrics tells.
type usage struct {
	known      bool
	resident   float64 // bytes
	inUse      float64 // bytes of heap and stacks
	cpu        float64 // seconds since its start
	goroutines float64
	files      float64
	mostFiles  float64
}

// look is one look at the load and at the instance.
type look struct {
	at                 time.Time
	open, acked, ended int64
	usage              usage
}

// meter looks each second. After run has returned, it belongs to the caller.
type meter struct {
	client *client
	counts *socketCounts

	mu     sync.Mutex // guards what follows
	looks  []look
	marks  [moments]look
	missed int // looks at which the instance told nothing
}

func newMeter(c *client, counts *socketCounts) *meter { return &meter{client: c, counts: counts} }

// run looks until ctx ends.
func (m *meter) run(ctx context.Context) {
	tick := time.NewTicker(meterEvery)
	defer tick.Stop()
	for {
		m.look(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// mark looks at once, and keeps it as what there was at a moment.
func (m *meter) mark(ctx context.Context, at moment) {
	l := m.look(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks[at] = l
}

func (m *meter) look(ctx context.Context) look {
	u, err := m.read(ctx)
	l := look{at: time.Now(), open: m.counts.open.Load(), acked: m.counts.acked.Load(), ended: m.counts.ended.Load(), usage: u}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		m.missed++
	}
	if len(m.looks) < maxLooks {
		m.looks = append(m.looks, l)
	}
	return l
}

// roomFor refuses an instance that may not open as many files as there are sockets.
func (m *meter) roomFor(ctx context.Context, sockets int) error {
	u, err := m.read(ctx)
	if err != nil || u.mostFiles == 0 {
		return nil // it does not tell
	}
	if need := u.files + float64(sockets); u.mostFiles < need {
		return fmt.Errorf("the instance may open %.0f files and needs %.0f: start it after `ulimit -n %d`, or with LimitNOFILE= in its systemd unit, or with --ulimit nofile= of docker",
			u.mostFiles, need, roundFiles(int(need)))
	}
	return nil
}

// read asks the instance for its page /metrics.
func (m *meter) read(ctx context.Context) (u usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.client.base+"/metrics", nil)
	if err != nil {
		return u, fmt.Errorf("make request: %w", err)
	}
	res, err := m.client.http.Do(req)
	if err != nil {
		return u, fmt.Errorf("read /metrics: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return u, fmt.Errorf("read /metrics: status %d", res.StatusCode)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(http.MaxBytesReader(nil, res.Body, maxBody))
	if err != nil {
		return u, fmt.Errorf("read /metrics: %w", err)
	}
	return usage{
		known:    families["process_resident_memory_bytes"] != nil,
		resident: value(families["process_resident_memory_bytes"]), cpu: value(families["process_cpu_seconds_total"]),
		inUse:      value(families["go_memstats_heap_inuse_bytes"]) + value(families["go_memstats_stack_inuse_bytes"]),
		goroutines: value(families["go_goroutines"]),
		files:      value(families["process_open_fds"]), mostFiles: value(families["process_max_fds"]),
	}, nil
}

// value returns the one value of a family; 0: there is none.
func value(f *dto.MetricFamily) float64 {
	if f == nil || len(f.GetMetric()) == 0 {
		return 0
	}
	only := f.GetMetric()[0]
	if c := only.GetCounter(); c != nil {
		return c.GetValue()
	}
	return only.GetGauge().GetValue() + only.GetUntyped().GetValue()
}
