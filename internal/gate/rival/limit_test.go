//go:build linux

package rival

import (
	"sync"
	"testing"
)

// What is compared must keep the same limit, judged by the vendor's own maximum: twice as
// many callers as permits.
func TestEveryWayKeepsTheVendorsLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all, missing := r.startWays(t, usual)
	if missing != "" {
		t.Log(missing)
	}
	for _, w := range all {
		var callers sync.WaitGroup
		for range 2 * limit {
			callers.Go(func() {
				if err := w.once(t.Context(), conversation(), true); err != nil {
					t.Errorf("%s: %v", w.name, err)
				}
			})
		}
		callers.Wait()
		if most := r.vendors.most(t); w.name != direct && most > limit {
			t.Errorf("%s: the vendor saw %d calls at once, want at most %d", w.name, most, limit)
		}
	}
}
