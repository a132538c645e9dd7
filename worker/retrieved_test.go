package worker

import (
	"testing"
	"time"

	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/knowledge"
)

func TestWhatWasFoundIsKeptForItsVersion(t *testing.T) {
	t.Parallel()
	now := shopKnows(t)()
	w := newWorker(t, nil, Config{
		Knowledge: func() Knowledge { return now }, Retrieval: func() time.Duration { return time.Hour },
	})
	t.Cleanup(w.Close)
	ask := func(tenant, text string) []knowledge.Hit {
		return w.passages(&chat.Ticket{Tenant: tenant, Message: text, Language: chat.English})
	}
	const text = "How long do I have to return something?"
	first := ask("demo", text)
	if again := ask("demo", text); len(first) == 0 || len(again) != len(first) || again[0].Text != first[0].Text {
		t.Errorf("found %d passages, then %d", len(first), len(again))
	}
	if got := w.Retrievals(); got != (cache.Counts{Hit: 1, Miss: 1}) {
		t.Errorf("%+v", got)
	}
	ask("other", text)
	if got := w.Retrievals(); got.Miss != 2 {
		t.Errorf("another tenant is given what one has asked for: %+v", got)
	}
	now.Threshold = 1.1
	if hits := ask("demo", text); len(hits) != 0 {
		t.Errorf("under another threshold %d passages are given", len(hits))
	}
	if ask("demo", text); w.Retrievals().Empty != 1 {
		t.Errorf("that there is nothing is not kept: %+v", w.Retrievals())
	}
	now = knowing(t, map[string]string{"returns.md": "# Returns\n\nYou have 99 days to return something."})()
	if hits := ask("demo", text); len(hits) != 1 || hits[0].Document != "returns.md" {
		t.Errorf("of another version %+v is given", hits)
	}
}

func TestASearchThatPanicsFindsNothing(t *testing.T) {
	t.Parallel()
	w := newWorker(t, nil, Config{
		Knowledge: func() Knowledge { return Knowledge{Index: &knowledge.Index{}, Passages: 3} },
		Retrieval: func() time.Duration { return time.Hour },
	})
	t.Cleanup(w.Close)
	if w.Knows(&chat.Ticket{Tenant: "demo", Message: "hello", Language: chat.English}) {
		t.Error("an index that cannot be searched knows something")
	}
	if got := w.Retrievals(); got.Failed != 1 {
		t.Errorf("%+v", got)
	}
}
