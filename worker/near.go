package worker

import (
	"context"
	"fmt"
	"slices"

	"sluice/internal/chat"
	"sluice/internal/knowledge"
	"sluice/internal/vector"
)

// Near finds passages by what they mean. All of it is of one space and of one version of
// the knowledge.
type Near struct {
	Space string // that the passages' vectors are in
	// Nearest returns the passages whose vectors are most like one, by number, the best first.
	Nearest func(ctx context.Context, v []float32, n int) ([]vector.Near, error)
	Floor   float64 // least likeness of a passage that is about a question
}

// vector returns the vector of a ticket's message in a space; nil: there is none now, or
// the space is empty.
func (w *Worker) vector(t *chat.Ticket, space string) []float32 {
	if w.cfg.Vector == nil || space == "" {
		return nil
	}
	return w.cfg.Vector(t, space)
}

// fused returns what words and meaning find together: passages that cover enough of the
// question, or are near enough to it. False: there is no vector of the question, or no
// passage can be compared with it, and words alone have to do.
func (w *Worker) fused(t *chat.Ticket, k Knowledge) ([]knowledge.Hit, bool) {
	if k.Near == nil {
		return nil, false
	}
	v := w.vector(t, k.Near.Space)
	if v == nil {
		return nil, false
	}
	hits, err := w.found(t, k.Near.Space, k, func(ctx context.Context) ([]knowledge.Hit, error) {
		near, err := k.Near.Nearest(ctx, v, knowledge.Reach)
		if err != nil {
			return nil, fmt.Errorf("find the nearest passages: %w", err)
		}
		hits := slices.DeleteFunc(k.Index.SearchNear(t.Message, t.Language, near, k.Near.Floor, knowledge.Reach), func(h knowledge.Hit) bool {
			return h.Covered < k.Threshold && h.Likeness < k.Near.Floor
		})
		return hits[:min(len(hits), k.Passages)], nil
	})
	return hits, err == nil
}
