package api

import (
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"sluice/internal/rules"
)

// TestSocketsThatComeAndGoLeaveNothingBehind opens sockets and ends half of them without a
// word. Then there are as many goroutines as before, and no more memory. It is not parallel,
// so that nothing else is counted. SLUICE_CHURN is another number: make soak.
func TestSocketsThatComeAndGoLeaveNothingBehind(t *testing.T) {
	n := 1500
	if more, err := strconv.Atoi(os.Getenv("SLUICE_CHURN")); err == nil {
		n = more
	}
	r := newSocketRig(t, SocketConfig{})
	_, welcome := r.hello(nil)
	hello, err := json.Marshal(r.greeting(again(welcome, 0)))
	must(t, err)
	r.limit(func(l *rules.Sockets) { l.PerSession = 100 })
	round := func(n int) {
		var left atomic.Int64
		left.Store(int64(n))
		var clients sync.WaitGroup
		for range 8 {
			clients.Go(func() {
				for mine := left.Add(-1); mine >= 0; mine = left.Add(-1) {
					conn := rawSocket(t, r.url, hello)
					if mine%2 == 0 { // a close frame, with the code 1000
						_, _ = conn.Write([]byte{0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8})
					}
					_ = conn.Close()
				}
			})
		}
		clients.Wait()
		r.eventually("the end of all sockets but the first", func() bool { return r.sockets.count() == 1 })
	}
	round(100) // what is there once
	goroutines, before := runtime.NumGoroutine(), inUse()
	round(n)
	r.eventually("as few goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines+goroutines/100+1 })
	after := inUse()
	t.Logf("%d sockets: %d goroutines before, %d after; %d KiB before, %d KiB after", n, goroutines, runtime.NumGoroutine(), before>>10, after>>10)
	if after > before+before/10 {
		t.Errorf("memory grew from %d to %d bytes", before, after)
	}
	r.sockets.mu.Lock()
	left := len(r.sockets.tenants) + len(r.sockets.sessions)
	r.sockets.mu.Unlock()
	r.hub.mu.Lock()
	left += len(r.hub.listeners)
	r.hub.mu.Unlock()
	if left != 3 {
		t.Errorf("%d counts are left, want those of the first socket", left)
	}
}
