package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
)

// Warm makes one light call at an endpoint of a vendor, so that the next customer finds
// a connection that stands. It passes the gate as a call of batch: behind every
// customer, without a turn, and counted. It is not tried again. ctx bounds all of it.
func (m *Model) Warm(ctx context.Context, g Granter, vendor, endpoint string) error {
	q := ask([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "ping")},
		[]llms.CallOption{llms.WithMaxTokens(1)})
	a := Ask{Ticket: "warm-up", Lane: chat.Batch, AcceptedAt: time.Now(), Vendors: []string{vendor}, Tokens: q.tokens}
	p, err := g.Ask(ctx, a)
	if err != nil {
		return fmt.Errorf("wait for a permit: %w", err)
	}
	if _, _, err = m.call(ToEndpoint(ctx, endpoint), NewCaller(g, a, p), p, q); err != nil {
		g.Release(p, m.backend(p.Vendor).ReleaseAfter)
	}
	return err
}
