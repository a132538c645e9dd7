package queue

import (
	"encoding/json"
	"testing"
	"time"

	"sluice/internal/chat"
)

// TestABatchIsAnnouncedOnce tells of a batch's end again, as after a crash.
func TestABatchIsAnnouncedOnce(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		ended := time.Now().UTC()
		b := Batch{
			ID: "b_AAAAAAAAAAAAAAAAAAAAAAAAAA", Tenant: "demo", Total: 5, Stop: chat.ReasonOverdue, CreatedAt: ended.Add(-time.Hour),
			EndedAt: &ended, Before: LineCounts{Answered: 3, Failed: 1, Cancelled: 1},
		}
		for range 2 {
			if err := w.AnnounceBatch(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		hooks, _, err := w.Hooks(t.Context(), chat.HookWaiting, 10)
		if err != nil || len(hooks) != 1 {
			t.Fatalf("%d webhooks (%v), want one", len(hooks), err)
		}
		raw, err := w.HookBody(t.Context(), hooks[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Type string `json:"type"`
			Data struct {
				ID        string `json:"batch_id"`
				Status    string `json:"status"`
				Total     int    `json:"total"`
				Answered  int    `json:"answered"`
				Failed    int    `json:"failed"`
				Cancelled int    `json:"cancelled"`
			} `json:"data"`
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Fatal(err)
		}
		if d := body.Data; body.Type != "batch.completed" || d.ID != b.ID || d.Status != "expired" || d.Total != 5 || d.Answered != 3 || d.Failed != 1 || d.Cancelled != 1 {
			t.Errorf("%s", raw)
		}
	})
}
