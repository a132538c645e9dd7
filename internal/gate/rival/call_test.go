//go:build linux

package rival

import (
	"fmt"
	"os"
	"testing"
)

// trials are what is measured: calls one by one and 48 at once, to a vendor that answers
// at once and to one that takes 200 ms, and the latter as customers see it, streamed.
// short is for a machine that builds; its figures show that all works, and little more.
func trials(short bool) []trial {
	all := []trial{
		{vendor: prompt, flight: 1, calls: 400, turns: 11},
		{vendor: prompt, flight: limit, calls: 20 * limit, turns: 11},
		{vendor: usual, flight: 1, calls: 10, turns: 5}, // the p99 of ten calls is their slowest
		{vendor: usual, flight: limit, calls: 5 * limit, turns: 9},
		{vendor: usual, flight: limit, calls: 5 * limit, turns: 9, stream: true},
	}
	for i := range all {
		if short {
			all[i].turns = 1
		}
	}
	return all
}

func (tr trial) String() string {
	shape := "whole"
	if tr.stream {
		shape = "streamed"
	}
	return fmt.Sprintf("vendor=%s/answer=%s/flight=%d", tr.delay(), shape, tr.flight)
}

// BenchmarkCall is one call to the vendor on each way. What a way adds is against direct
// calls made in turns with its own; for the direct way itself that is the noise.
func BenchmarkCall(b *testing.B) {
	r := newRig(b)
	found := newTable()
	for _, vendor := range []string{prompt, usual} {
		all, missing := r.startWays(b, vendor)
		found.missing = missing
		for _, tr := range trials(testing.Short()) {
			if tr.vendor != vendor {
				continue
			}
			for _, w := range all {
				b.Run(fmt.Sprintf("%s/way=%s", tr, w.name), func(b *testing.B) {
					f := tr.measure(b, r, all[0], w)
					f.report(b)
					found.add(tr, w.name, f)
				})
			}
		}
	}
	if err := found.write(os.Stderr); err != nil {
		b.Fatal(err)
	}
}
