package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// edits are what two writers stored between them.
type edits struct {
	mu     sync.Mutex
	valid  map[uint64]int // revision → bound of lane high, of those that can be put into force
	last   uint64
	lastOK uint64
	met    int // times that one writer was faster than the other
}

func (e *edits) note(rev uint64, bound int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = max(e.last, rev)
	if ok {
		e.valid[rev] = bound
		e.lastOK = max(e.lastOK, rev)
	}
}

// oneIntent stands for the shipped ones, whose patterns take long to build 800 times.
const oneIntent = "intents: [{name: parcel, patterns: [parcel], template: {zh: 包裹, en: Your parcel}}]\n" + smallRules

// invalid are documents that no process can use, as another version might store them.
var invalid = []string{
	"from_the_future: 1\n" + oneIntent, "lanes: {high: {bound: 0}}\n" + oneIntent, "lanes: [\n", "lanes: {high: {max_wait: 1ms}}\n" + oneIntent,
}

// edit stores n documents over the newest one each, again after meeting the other writer.
func (f *follower) edit(t *testing.T, e *edits, seed uint64, n int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	for i := 0; i < n; {
		time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
		bound := int(seed)*1000 + i + 1
		doc, ok := fmt.Sprintf("lanes: {high: {bound: %d}}\n%s", bound, oneIntent), rng.IntN(4) > 0
		if !ok {
			doc = invalid[rng.IntN(len(invalid))]
		}
		_, over, err := f.e.store.Load(t.Context())
		if err != nil {
			t.Errorf("load: %v", err)
			return
		}
		if rng.IntN(2) == 0 {
			time.Sleep(time.Duration(rng.IntN(10)) * time.Millisecond) // the other one may come between
		}
		rev, err := f.e.store.Change(t.Context(), []byte(doc), over, queue.Authorship{Actor: "admin", Reason: "test"})
		if errors.Is(err, queue.ErrLost) {
			e.mu.Lock()
			e.met++
			e.mu.Unlock()
			continue
		}
		if err != nil {
			t.Errorf("change: %v", err)
			return
		}
		e.note(rev, bound, ok)
		i++
	}
}

// Two writers, 200 edits, a quarter of them of no use, and four processes that run.
func TestFourProcessesEndOnTheSameRulesWhoeverWrites(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, oneIntent), sim.Behaviour{})
		t.Cleanup(w.close)
		w.storeRules(oneIntent)
		var all []*follower
		for range 4 {
			all = append(all, w.follow())
		}
		time.Sleep(time.Second)
		e := &edits{valid: map[uint64]int{}}
		var writers sync.WaitGroup
		for i := range 2 {
			writers.Go(func() { all[i].edit(t, e, uint64(i+1), 100) })
		}
		writers.Wait()
		time.Sleep(time.Second)
		if e.met == 0 {
			t.Error("the writers never met")
		}
		bounds := map[int]uint64{}
		for rev, bound := range e.valid {
			bounds[bound] = rev
		}
		for i, f := range all {
			f.mu.Lock()
			heard := slices.Clone(f.heard)
			f.mu.Unlock()
			var before uint64
			for _, bound := range heard {
				rev, known := bounds[bound]
				if !known || rev <= before {
					t.Fatalf("process %d put bound %d of revision %d into force after revision %d", i, bound, rev, before)
				}
				before = rev
			}
			if got, want := f.rules().Lanes[chat.High].Bound, e.valid[e.lastOK]; got != want || before != e.lastOK {
				t.Errorf("process %d ends with bound %d of revision %d, want %d of %d", i, got, before, want, e.lastOK)
			}
		}
	})
}
