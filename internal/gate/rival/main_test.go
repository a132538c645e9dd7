//go:build linux

// Package rival sets the gate beside what one would take instead of it: a semaphore in
// the process, a plain httputil.ReverseProxy with a semaphore, and HAProxy. It holds
// benchmarks, and the test that what they compare keeps the same limit.
//
// Vendor and proxies are processes of their own, so that what they burn is not taken for
// the gate's. docs/benchmarks.md tells the method, and what came out.
package rival

import (
	"fmt"
	"os"
	"testing"

	"sluice/internal/queue/queuetest"
)

// limit is the permits of every way to the vendor.
const limit = 48

// TestMain is also the main of the children.
func TestMain(m *testing.M) {
	play := map[string]func() error{vendorRole: playVendor, proxyRole: playProxy}[os.Getenv(roleKey)]
	if play == nil {
		queuetest.Main(m)
		return
	}
	if err := play(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
