package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// maxAudit is how many entries the audit keeps: the oldest go first.
const maxAudit = 100_000

// Audit is one entry about what an operator changed.
type Audit struct {
	Seq    uint64    `json:"seq"` // its place, from 1; given by Note
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
	Action string    `json:"action"`           // such as lane.pause
	Target string    `json:"target,omitempty"` // what it was done to
	Reason string    `json:"reason"`
	// Before and After are what was changed, small and without secrets, where there is
	// something to show.
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
	Result string `json:"result,omitempty"` // what came of it, where that was not known when it began
}

// openAudit makes the stream of the audit. Nothing in it can be deleted.
func (q *Queue) openAudit(ctx context.Context) (err error) {
	q.audit, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: auditStream, Subjects: []string{"audit.>"}, Storage: jetstream.FileStorage,
		MaxMsgs: maxAudit, Replicas: q.cfg.Replicas, AllowDirect: false, DenyDelete: true, DenyPurge: true,
	})
	if err != nil {
		return fmt.Errorf("open stream %s: %w", auditStream, err)
	}
	return nil
}

// Note adds an entry to the audit.
func (q *Queue) Note(ctx context.Context, a Audit) error {
	body, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode audit entry: %w", err)
	}
	_, err = q.js.Publish(ctx, "audit."+a.Action, body)
	return refusal("note "+a.Action+" in the audit", err)
}

// Audits returns the newest entries before a place (0: the end), newest first, at most limit.
func (q *Queue) Audits(ctx context.Context, before uint64, limit int) ([]Audit, error) {
	all, err := newest(ctx, q.audit, before, limit, func(a *Audit, seq uint64) { a.Seq = seq })
	if err != nil {
		return nil, fmt.Errorf("read the audit: %w", err)
	}
	return append([]Audit{}, all...), nil
}
