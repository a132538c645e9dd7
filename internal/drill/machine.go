package drill

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"
)

const (
	lookEvery = 5 * time.Millisecond
	tooLate   = slowAfter / 2 // a delay of ours that looks like one of a vendor
)

// machineLoad returns how many processes wanted to run of late; 0 where the system does not
// tell.
func machineLoad() (load float64) {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(raw), &load); err != nil {
		return 0
	}
	return load
}

// lateness returns by how much a timer of this process came too late at the worst, until ctx
// ended.
func lateness(ctx context.Context) (most time.Duration) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-tick.C:
			now := time.Now()
			most = max(most, now.Sub(last)-lookEvery)
			last = now
		case <-ctx.Done():
			return most
		}
	}
}

// machine notes what of the times is the machine's: at a twentieth its own delays are
// twenty times as long.
func (d *drill) machine(load float64, late time.Duration) {
	if load > float64(runtime.NumCPU()) {
		d.note("the machine was busy with other work: %.1f processes for %d processors", load, runtime.NumCPU())
	}
	if late > tooLate {
		d.note("timers of this process came up to %s late: so late may look what is measured", short(late))
	}
}
