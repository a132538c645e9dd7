package report

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	barEvery  = 200 * time.Millisecond
	lineEvery = 2 * time.Second
)

// Progress says where to show how far a run is: as a bar on a terminal, else as one line
// every two seconds. The zero value shows nothing.
type Progress struct {
	Out      io.Writer
	Terminal bool
}

// Gauge tells how far a run is. It is asked while the run is under way.
type Gauge interface {
	// Way is how much of total is done, short of the very end.
	Way() (done, total int)
	// String says it in one line.
	String() string
}

// Run shows the gauge until ctx ends. What the writer cannot take is not shown.
func (p Progress) Run(ctx context.Context, g Gauge) {
	if p.Out == nil {
		<-ctx.Done()
		return
	}
	begun := time.Now()
	show, end, every := func() {
		_, _ = fmt.Fprintf(p.Out, "%5.0fs  %s\n", time.Since(begun).Seconds(), g)
	}, func() {}, lineEvery
	if p.Terminal {
		show, end, every = p.bar(g)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			show()
		case <-ctx.Done():
			show()
			end()
			return
		}
	}
}

func (p Progress) bar(g Gauge) (show, end func(), every time.Duration) {
	_, total := g.Way()
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(p.Out), progressbar.OptionSetWidth(30),
		progressbar.OptionSetElapsedTime(true), progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(true),
	)
	show = func() {
		bar.Describe(g.String())
		done, total := g.Way()
		bar.ChangeMax(total)
		_ = bar.Set(min(done, total-1))
	}
	return show, func() { _ = bar.Finish() }, barEvery
}
