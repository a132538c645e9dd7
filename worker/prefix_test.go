package worker

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
)

// TestPromptsOfALanguageBeginAlike: vendors keep the work on a prompt's beginning for the
// next one that begins with the same bytes. Tools come before all messages there.
func TestPromptsOfALanguageBeginAlike(t *testing.T) {
	t.Parallel()
	for _, language := range []string{chat.Chinese, chat.English} {
		m := &script{steps: []llms.ContentChoice{{Content: "OK."}}}
		w, ctx := withTools(t, m, 6, func(http.ResponseWriter, *http.Request) {}, "one", "two", "three")
		for _, q := range []chat.Question{
			{Ticket: chat.Ticket{ID: "t1", Tenant: "a", Session: "s1", Message: "one?"}},
			{Ticket: chat.Ticket{ID: "t2", Tenant: "b", Session: "s2", Message: "two?", Intent: "refund", Phone: "+8613800138000"}},
			{
				Ticket:  chat.Ticket{ID: "t9", Tenant: "a", Session: "s1", Message: "three?"},
				History: []chat.Event{asked("t1", "one?"), replied("t1", "one."), asked("t9", "three?")},
			},
		} {
			q.Ticket.Language = language
			if _, err := w.Answer(ctx, q, chat.Effort{Route: chat.RouteAgent}, func(string) {}); err != nil {
				t.Fatal(err)
			}
		}
		begins := func(i int) string {
			text, err := json.Marshal([]any{m.asked[i].Tools, m.seen[i][0]})
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		for i := range m.asked {
			if m.seen[i][0].Role != llms.ChatMessageTypeSystem || begins(i) != begins(0) {
				t.Errorf("%s: prompt %d begins with\n%s, the first with\n%s", language, i, begins(i), begins(0))
			}
		}
	}
}
