package worker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/knowledge"
)

// retrievedBytes bounds what was found and is at hand.
const retrievedBytes = 4 << 20

// newRetrieved returns what keeps passages that were found. keep returns for how long.
func newRetrieved(keep func() time.Duration) (*cache.Cache[[]knowledge.Hit], error) {
	return cache.New(cache.Config[[]knowledge.Hit]{
		Name: "retrieval", Bound: retrievedBytes, Keep: keep,
		Empty: func(hits []knowledge.Hit) bool { return len(hits) == 0 },
		Cost: func(hits []knowledge.Hit) int {
			size := 256
			for _, h := range hits {
				size += 128 + len(h.Text)
			}
			return size
		},
	})
}

// retrieve returns what the knowledge has for a ticket's question, the best first, as it
// was found a while ago or now. Where a search comes to nothing through a fault of ours
// the last good one of the same version stands, or there is none. What it returns must not
// be changed.
func (w *Worker) retrieve(t *chat.Ticket, k Knowledge) []knowledge.Hit {
	if hits, fused := w.fused(t, k); fused {
		return hits
	}
	hits, err := w.found(t, cache.None, k, func(context.Context) ([]knowledge.Hit, error) {
		return slices.DeleteFunc(k.Index.Search(t.Message, t.Language, k.Passages), func(h knowledge.Hit) bool {
			return h.Covered < k.Threshold
		}), nil
	})
	if err != nil {
		return nil
	}
	return hits
}

// found returns what a search finds, or found a while ago in the same space.
func (w *Worker) found(t *chat.Ticket, space string, k Knowledge, search func(context.Context) ([]knowledge.Hit, error)) ([]knowledge.Hit, error) {
	if w.retrieved == nil {
		return search(context.Background())
	}
	key, err := cache.Scope{Tenant: t.Tenant, Model: space, Prompt: cache.None, Knowledge: k.Version()}.Key(t.Language, t.Message)
	if err != nil {
		key = cache.Key{} // a ticket without a tenant: for it alone
	}
	return w.retrieved.Get(context.Background(), key, search)
}

// Version names what is in force to answer from: the same for the same documents, threshold
// and number of passages. cache.None: there is nothing.
func (k Knowledge) Version() string {
	if k.Index == nil {
		return cache.None
	}
	return fmt.Sprintf("%s %g %d", k.Index.Version(), k.Threshold, k.Passages)
}

// Retrievals returns how often passages were found that had been looked for before.
func (w *Worker) Retrievals() cache.Counts {
	if w.retrieved == nil {
		return cache.Counts{}
	}
	return w.retrieved.Counts()
}

// Close ends what the worker does by itself, and waits for it.
func (w *Worker) Close() {
	if w.retrieved != nil {
		w.retrieved.Close()
	}
}
