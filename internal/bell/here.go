package bell

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/internal/alert"
)

// here is what a process says of itself.
type here struct {
	alert.Node
	Refused int `json:"refused,omitempty"` // messages within alert.Window
}

func (b *Bell) beHere(ctx context.Context) error {
	h := here{Node: b.cfg.Here}
	if b.cfg.Refused != nil {
		h.Refused = b.cfg.Refused(time.Now())
	}
	body, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode what this process is: %w", err)
	}
	return b.queue.BeHere(ctx, b.cfg.Node, body)
}

// present adds to a reading who is there, and what all of them have refused.
func (b *Bell) present(ctx context.Context, r *alert.Reading) error {
	all, err := b.queue.WhoIsHere(ctx)
	if err != nil {
		return err
	}
	refused, nodes := 0, map[string]alert.Node{}
	for id, body := range all {
		var h here
		if err := json.Unmarshal(body, &h); err != nil {
			return fmt.Errorf("decode what process %s said: %w", id, err)
		}
		nodes[id], refused = h.Node, refused+h.Refused
	}
	r.Nodes, r.Refused = nodes, &refused
	return nil
}

// goodbye takes the process off the list, so that nobody looks for it. Without it the process
// counts as lost, which it then is.
func (b *Bell) goodbye(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	err := b.queue.BeGone(ctx, b.cfg.Node)
	if err == nil {
		err = b.update(ctx, func(s alert.State) (alert.State, bool) {
			_, known := s.Nodes[b.cfg.Node]
			return s.Leave(b.cfg.Node), known
		})
	}
	if err != nil {
		b.log.Warn().Err(err).Msg("this process will be looked for")
	}
	return nil
}
