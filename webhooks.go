package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/hook"
	"sluice/internal/queue"
	"sluice/worker"
)

// webhookStage sends what the outbox of webhooks holds, by the rules in force.
func webhookStage(q *queue.Queue, in *live, log zerolog.Logger) (stage, error) {
	sender, err := hook.NewSender(hook.Config{Private: func() bool { return in.rules().Webhooks.AllowPrivate }})
	if err != nil {
		return stage{}, err
	}
	d, err := worker.NewDeliverer(q, worker.DelivererConfig{
		Sender: sender, Log: log,
		Secrets: func(ctx context.Context, tenant string, now time.Time) ([]string, error) {
			s, err := q.HookSecrets(ctx, tenant)
			return s.Signing(now), err
		},
		Endpoint: func(tenant string) string { return in.rules().Webhooks.Endpoints[tenant] },
	})
	if err != nil {
		return stage{}, err
	}
	return stage{name: "webhooks", run: d.Run}, nil
}
