package cache

import "sync/atomic"

// Counts are what became of all uses of a cache so far. Each use counts as one of Hit,
// Stale, Empty or Miss.
type Counts struct {
	Hit    uint64 // given, and fresh
	Stale  uint64 // given although its time was over
	Empty  uint64 // told that there is nothing, from memory
	Miss   uint64 // not there: loaded, or somebody else's load was waited for
	Failed uint64 // loads that came to nothing, those in the background too
}

// Tally counts. Its zero value is ready, and it is safe for concurrent use.
type Tally struct {
	Hit, Stale, Empty, Miss, Failed atomic.Uint64
}

// Counts returns what was counted; each number is read by itself.
func (t *Tally) Counts() Counts {
	return Counts{
		Hit: t.Hit.Load(), Stale: t.Stale.Load(), Empty: t.Empty.Load(), Miss: t.Miss.Load(), Failed: t.Failed.Load(),
	}
}
