package rules

import (
	"fmt"
	"time"
)

func (d *document) checkValve(v Valve) {
	if len(v.Levels) != 3 {
		d.fault("valve.levels", "must be three, for levels 1, 2 and 3, are %d", len(v.Levels))
	}
	for i, l := range v.Levels {
		path := fmt.Sprintf("valve.levels[%d]", i)
		d.ratio(path+".depth", l.Depth)
		d.ratio(path+".errors", l.Errors)
		d.span(path+".p99", l.P99, time.Nanosecond, 0)
		d.span(path+".wait", l.Wait, time.Nanosecond, 0)
		if i == 0 {
			continue
		}
		below := v.Levels[i-1]
		d.rises(path+".depth", below.Depth < l.Depth, below.Depth, l.Depth)
		d.rises(path+".errors", below.Errors < l.Errors, below.Errors, l.Errors)
		d.rises(path+".p99", below.P99 < l.P99, below.P99, l.P99)
		d.rises(path+".wait", below.Wait < l.Wait, below.Wait, l.Wait)
	}
	d.span("valve.window", v.Window, time.Second, 0)
	d.count("valve.min_calls", v.MinCalls, 1, 0)
	d.span("valve.hold", v.Hold, time.Second, 0)
	d.span("valve.urgent_wait", v.UrgentWait, time.Second, 0)
	d.ratio("valve.urgent_share", v.UrgentShare)
	if v.Shadow < 0 || v.Shadow > 1 {
		d.fault("valve.shadow", "must be from 0 to 1, is %v", v.Shadow)
	}
	if f := v.Force; f != nil {
		_, given := d.at["valve.force.level"]
		if !given || f.Level < 0 || f.Level > 3 {
			d.fault("valve.force.level", "must be given, 0 to 3, is %d", f.Level)
		}
		if f.Until.IsZero() {
			d.fault("valve.force.until", "must be given: an operator's level has an end")
		}
	}
}

// rises wants each level to begin later than the one below it.
func (d *document) rises(path string, ok bool, below, is any) {
	if !ok {
		d.fault(path, "must be above that of the level before, which is %v, is %v", below, is)
	}
}
