package worker

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/knowledge"
	"sluice/internal/llm"
	"sluice/internal/sim"
)

// simulated serves a simulated vendor over HTTP and returns it with a client.
func simulated(t *testing.T, obedient bool) (*sim.Vendor, llms.Model) {
	t.Helper()
	vendor, err := sim.NewVendor(sim.Config{Name: "a", Record: true, Behaviour: sim.Behaviour{
		FirstToken: sim.Fixed(0), Call: sim.Fixed(0), Obedient: obedient,
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(vendor.Handler())
	t.Cleanup(server.Close)
	client, err := llm.New(llm.Config{Vendor: "a", BaseURL: server.URL + "/v1", Model: "model-s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return vendor, client
}

// knowing indexes documents, by name, for a worker's config.
func knowing(t *testing.T, texts map[string]string) func() Knowledge {
	t.Helper()
	b := knowledge.NewBuilder()
	for name, text := range texts {
		d, err := knowledge.Read(name, strings.NewReader(text))
		if err == nil {
			err = b.Add(d)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	k := Knowledge{Index: b.Index(), Threshold: 0.3, Passages: 3}
	return func() Knowledge { return k }
}

func shopKnows(t *testing.T) func() Knowledge {
	t.Helper()
	shipped, err := knowledge.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	x, err := knowledge.Build(t.Context(), shipped)
	if err != nil {
		t.Fatal(err)
	}
	return func() Knowledge { return Knowledge{Index: x, Threshold: 0.3, Passages: 3} }
}

var fromKnowledge = chat.Effort{Route: chat.RouteRAG, Light: true}

func question(text string) chat.Question {
	return chat.Question{Ticket: chat.Ticket{ID: "now", Message: text, Language: chat.Language(text, "")}}
}

func TestAnAnswerFromTheKnowledgeNamesItsSources(t *testing.T) {
	t.Parallel()
	vendor, client := simulated(t, false)
	w := newWorker(t, client, Config{Knowledge: shopKnows(t)})
	for _, c := range []struct{ ask, says, title, below string }{
		{"what does error E2 mean on my blender?", "E2", "Manual: Whirl B5 blender", "Sources: [1] Manual: Whirl B5 blender"},
		{"料理机显示E2是什么意思？", "E2", "说明书：旋风 B5 料理机", "资料来源：[1] "},
	} {
		var streamed strings.Builder
		q := question(c.ask)
		if !w.Knows(&q.Ticket) {
			t.Fatalf("%s: not known", c.ask)
		}
		got, err := w.Answer(t.Context(), q, fromKnowledge, func(s string) { streamed.WriteString(s) })
		if err != nil || got.Route != chat.RouteRAG || got.Usage.PromptTokens == 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		if !strings.Contains(got.Reply.Text, c.says) || !strings.Contains(got.Reply.Text, c.below) || streamed.String() != got.Reply.Text {
			t.Errorf("says %q, streamed %q", got.Reply.Text, streamed.String())
		}
		if s := got.Reply.Sources; len(s) == 0 || !strings.Contains(s[0].Title, "B5") {
			t.Errorf("sources %+v, want %s", s, c.title)
		}
	}
	if n := vendor.Stats().Completed; n != 2 {
		t.Errorf("%d calls for two answers", n)
	}
}

func TestEachTextOfAGroundedPromptHasItsOwnMessage(t *testing.T) {
	t.Parallel()
	m := &model{pieces: []string{"Ten [1]."}}
	w := newWorker(t, m, Config{Knowledge: knowing(t, map[string]string{
		"lamp.md": "---\nurl: https://shop.example/lamp\n---\n# Lamps\nThe lamp costs ten.\n",
	})})
	q := question("what does the lamp cost?")
	for _, id := range []string{"t1", "t2", "t3", "t4", "t5", "t6"} {
		q.History = append(q.History, asked(id, id+"?"), replied(id, id+"."))
	}
	got, err := w.Answer(t.Context(), q, fromKnowledge, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"system: " + ragEnglish, "human: t3?", "ai: t3.", "human: t4?", "ai: t4.", "human: t5?", "ai: t5.", "human: t6?", "ai: t6.",
		"human: " + referenceEnglish + "\n[1] Lamps: The lamp costs ten.", "ai: " + notedEnglish, "human: what does the lamp cost?",
	}
	if all := said(m.messages); !slices.Equal(all, want) {
		t.Errorf("the prompt is %q", all)
	}
	if len(m.options.Tools) != 0 {
		t.Errorf("%d tools are offered", len(m.options.Tools))
	}
	source := chat.Source{Title: "Lamps", URL: "https://shop.example/lamp"}
	if !slices.Equal(got.Reply.Sources, []chat.Source{source}) || !strings.Contains(got.Reply.HTML, `<a href="https://shop.example/lamp"`) {
		t.Errorf("%+v", got.Reply)
	}
}

func TestOnlyCitedSourcesAreNamedUnlessNoneIs(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"lamp.txt": "The lamp costs ten.", "lamps.txt": "A lamp costs a lot, the lamp too."}
	for says, want := range map[string]int{"It costs ten [1].": 1, "Ten [1][2].": 2, "It costs ten.": 2, "Ten [7].": 2} {
		w := newWorker(t, &model{pieces: []string{says}}, Config{Knowledge: knowing(t, texts)})
		got, err := w.Answer(t.Context(), question("lamp costs?"), fromKnowledge, func(string) {})
		if err != nil || len(got.Reply.Sources) != want {
			t.Errorf("%q: %+v, %v", says, got.Reply.Sources, err)
		}
	}
}

func TestWhatIsNotKnownIsSaidWithoutAModel(t *testing.T) {
	t.Parallel()
	vendor, client := simulated(t, false)
	empty := func() Knowledge { return Knowledge{} }
	for name, known := range map[string]func() Knowledge{"nothing covers it": shopKnows(t), "no index": empty, "no knowledge": nil} {
		w := newWorker(t, client, Config{Knowledge: known})
		for ask, want := range map[string]string{
			"quantum chromodynamics lectures tonight?": unknownEnglish, "今晚有量子色动力学讲座吗": unknownChinese,
		} {
			q := question(ask)
			if w.Knows(&q.Ticket) {
				t.Errorf("%s: %s is known", name, ask)
			}
			if _, err := w.rag(t.Context(), q, nil); !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %v", name, err)
			}
			var streamed strings.Builder
			got, err := w.Answer(t.Context(), q, fromKnowledge, func(s string) { streamed.WriteString(s) })
			if err != nil || got.Reply.Text != want || streamed.String() != want || len(got.Reply.Sources) != 0 {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
	}
	if n := vendor.Stats().Calls; n != 0 {
		t.Errorf("%d calls of a model that has nothing to answer from", n)
	}
}

func TestAnAnswerThatBreaksOffIsNone(t *testing.T) {
	t.Parallel()
	known := knowing(t, map[string]string{"lamp.txt": "The lamp costs ten."})
	broken := errors.New("connection reset")
	for _, m := range []*model{{pieces: []string{"The"}, err: broken}, {pieces: []string{" \n"}}} {
		w := newWorker(t, m, Config{Knowledge: known})
		got, err := w.Answer(t.Context(), question("what does the lamp cost?"), fromKnowledge, func(string) {})
		if err == nil || got.Reply.Text != "" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the customer left")
	cancel(gone)
	_, client := simulated(t, false)
	if _, err := newWorker(t, client, Config{Knowledge: known}).Answer(ctx, question("lamp cost"), fromKnowledge, func(string) {}); err == nil {
		t.Error("an answer after a cancel")
	}
}
