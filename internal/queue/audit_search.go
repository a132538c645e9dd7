package queue

import (
	"context"
	"strings"
)

// auditScan is the most entries that one search looks at, and auditBlock how many it reads
// together.
const (
	auditScan  = 2000
	auditBlock = 100
)

// AuditFilter says which entries of the audit are wanted. An empty field wants all.
type AuditFilter struct {
	Actor  string
	Action string // whole, or its beginning up to a dot: lane for lane.pause
	Target string
}

func (f AuditFilter) fits(a *Audit) bool {
	return (f.Actor == "" || a.Actor == f.Actor) && (f.Target == "" || a.Target == f.Target) &&
		(f.Action == "" || a.Action == f.Action || strings.HasPrefix(a.Action, f.Action+"."))
}

// SearchAudit returns up to limit of the wanted entries before a place (0: the end), newest
// first, and the place to go on from: 0 once there are no older ones. It looks at no more
// than 2,000 entries, so that it may return fewer than limit, or none, and a place.
func (q *Queue) SearchAudit(ctx context.Context, f AuditFilter, before uint64, limit int) (found []Audit, next uint64, err error) {
	size := auditBlock
	if f == (AuditFilter{}) {
		size = limit + 1 // one more tells whether there are older ones
	}
	found = []Audit{}
	for seen := 0; seen < auditScan; seen += size {
		block, err := q.Audits(ctx, before, size)
		if err != nil {
			return nil, 0, err
		}
		for i := range block {
			if len(found) == limit {
				return found, before, nil
			}
			if before = block[i].Seq; f.fits(&block[i]) {
				found = append(found, block[i])
			}
		}
		if len(block) < size || before == 1 {
			return found, 0, nil
		}
	}
	return found, before, nil
}
