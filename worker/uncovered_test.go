package worker

import (
	"fmt"
	"strings"
	"testing"
)

// Under load a model that answers without tools and without passages is told that there are
// none, so that it says so in place of guessing.
func TestAModelAloneIsToldThatTheKnowledgeHasNothing(t *testing.T) {
	t.Parallel()
	w := newWorker(t, nil, Config{Knowledge: shopKnows(t)})
	for name, c := range map[string]struct {
		ask  string
		bare bool
		told string // part of the system prompt; empty: neither language's
	}{
		"nothing, en":    {"do you sell car tyres", true, "hold nothing that fits"},
		"nothing, zh":    {"汽车轮胎多久换一次", true, "没有与这条消息相符的内容"},
		"covered":        {"what does error E2 mean on my blender?", true, ""},
		"with all means": {"do you sell car tyres", false, ""},
	} {
		text := fmt.Sprint(w.prompt(question(c.ask), nil, c.bare)[0])
		if c.told == "" && (strings.Contains(text, "hold nothing") || strings.Contains(text, "没有与这条")) || !strings.Contains(text, c.told) {
			t.Errorf("%s: the prompt begins with %q", name, text)
		}
	}
}
