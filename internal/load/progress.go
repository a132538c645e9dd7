package load

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

	// The checks after the end of a ticket are the last tenth of its way.
	wholeWay = 10
	untilEnd = 9
)

// Progress says where to show how far a run is: as a bar on a terminal, else as one line
// every two seconds. The zero value shows nothing.
type Progress struct {
	Out      io.Writer
	Terminal bool
}

// run shows the counts until ctx ends. What the writer cannot take is not shown.
func (p Progress) run(ctx context.Context, total int, c *counts) {
	if p.Out == nil {
		<-ctx.Done()
		return
	}
	begun := time.Now()
	show, end, every := func() {
		_, _ = fmt.Fprintf(p.Out, "%5.0fs  %s\n", time.Since(begun).Seconds(), c)
	}, func() {}, lineEvery
	if p.Terminal {
		show, end, every = p.bar(total, c)
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

func (p Progress) bar(total int, c *counts) (show, end func(), every time.Duration) {
	bar := progressbar.NewOptions(total*wholeWay,
		progressbar.OptionSetWriter(p.Out), progressbar.OptionSetWidth(30),
		progressbar.OptionSetElapsedTime(true), progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(true),
	)
	show = func() {
		bar.Describe(c.String())
		_ = bar.Set(c.way(total))
	}
	return show, func() { _ = bar.Finish() }, barEvery
}

// way is how far all tickets are, short of the very end.
func (c *counts) way(total int) int {
	done := wholeWay*int(c.refused.Load()) + untilEnd*int(c.ended.Load()) + int(c.checked.Load())
	return min(done, total*wholeWay-1)
}

// String returns the counts in one line.
func (c *counts) String() string {
	sent, refused, ended := c.sent.Load(), c.refused.Load(), c.ended.Load()
	return fmt.Sprintf("sent %d, ended %d, refused %d, open %d", sent, ended, refused, max(sent-refused-ended, 0))
}
