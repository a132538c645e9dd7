package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
)

// model is an llms.Model that notes what it is asked.
type model struct {
	pieces   []string
	stop     string
	err      error
	messages []llms.MessageContent
	options  llms.CallOptions
}

func (m *model) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	m.messages = messages
	for _, option := range options {
		option(&m.options)
	}
	for _, piece := range m.pieces {
		if err := m.options.StreamingFunc(ctx, []byte(piece)); err != nil {
			return nil, err
		}
	}
	if m.err != nil {
		return nil, m.err
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		Content: strings.Join(m.pieces, ""), StopReason: m.stop,
		GenerationInfo: map[string]any{"PromptTokens": 12, "CompletionTokens": 3},
	}}}, nil
}

func (m *model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

var testTemplates = map[string]map[string][]string{
	Other:       {chat.Chinese: {"稍后回复。"}, chat.English: {"We reply later."}},
	"complaint": {chat.Chinese: {"很抱歉。"}, chat.English: {"We are **sorry**."}},
	"refund":    {chat.Chinese: {"退款已登记。"}},
}

func newWorker(t testing.TB, m llms.Model, cfg Config) *Worker {
	t.Helper()
	if cfg.Templates == nil {
		cfg.Templates = testTemplates
	}
	w, err := New(m, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func said(messages []llms.MessageContent) []string {
	var all []string
	for _, m := range messages {
		all = append(all, string(m.Role)+": "+m.Parts[0].(llms.TextContent).Text)
	}
	return all
}

func asked(ticket, text string) chat.Event {
	return chat.Event{Kind: chat.KindMessage, Who: chat.ByCustomer, Ticket: ticket, Text: text}
}

func replied(ticket, text string) chat.Event {
	return chat.Event{Kind: chat.KindMessage, Who: chat.ByBot, Ticket: ticket, Text: text, Status: chat.Answered}
}

func TestPromptIsWhatWasSaidAndAnswered(t *testing.T) {
	t.Parallel()
	ended := chat.Event{Kind: chat.KindStatus, Ticket: "t2", Status: chat.Cancelled}
	for name, c := range map[string]struct {
		history []chat.Event
		want    []string
	}{
		"nothing":                                {nil, nil},
		"the message itself":                     {[]chat.Event{asked("now", "now?")}, nil},
		"a pair":                                 {[]chat.Event{asked("t1", "one?"), replied("t1", "one."), asked("now", "now?")}, []string{"human: one?", "ai: one."}},
		"an open question":                       {[]chat.Event{asked("t1", "one?"), asked("now", "now?")}, nil},
		"a cancelled question":                   {[]chat.Event{asked("t2", "two?"), ended, asked("now", "now?")}, nil},
		"pairs stand where their answers came":   {[]chat.Event{asked("t1", "one?"), asked("t2", "two?"), replied("t2", "two."), replied("t1", "one."), asked("now", "now?")}, []string{"human: two?", "ai: two.", "human: one?", "ai: one."}},
		"a system message":                       {[]chat.Event{asked("t1", "one?"), {Kind: chat.KindMessage, Who: chat.BySystem, Ticket: "t1", Text: "wait"}, replied("t1", "one."), asked("now", "now?")}, []string{"human: one?", "ai: one."}},
		"a later question of the session":        {[]chat.Event{asked("t1", "one?"), replied("t1", "one."), asked("now", "now?"), asked("t9", "later?")}, []string{"human: one?", "ai: one."}},
		"a history that begins after a question": {[]chat.Event{replied("t0", "zero."), asked("t1", "one?"), replied("t1", "one."), asked("now", "now?")}, []string{"human: one?", "ai: one."}},
	} {
		m := &model{pieces: []string{"yes"}}
		w := newWorker(t, m, Config{})
		q := chat.Question{Ticket: chat.Ticket{ID: "now", Message: "now?", Language: chat.English}, History: c.history}
		if _, err := w.Answer(t.Context(), q, chat.Effort{Route: chat.RouteAgent}, func(string) {}); err != nil {
			t.Fatal(err)
		}
		got := said(m.messages)
		want := append(append([]string{"system: " + promptEnglish}, c.want...), "human: now?")
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got[1:], want[1:])
		}
	}
}

func TestPromptSpeaksTheTicketsLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language string
		prompts  map[string]string
		want     string
	}{
		{chat.Chinese, nil, promptChinese}, {chat.English, nil, promptEnglish}, {"", nil, promptEnglish},
		{chat.Chinese, map[string]string{chat.Chinese: "own"}, "own"},
		{chat.English, map[string]string{chat.Chinese: "own"}, promptEnglish},
	} {
		m := &model{pieces: []string{"OK"}}
		w := newWorker(t, m, Config{Prompts: c.prompts, MaxTokens: 77})
		if _, err := w.Answer(t.Context(), chat.Question{Ticket: chat.Ticket{Language: c.language}}, chat.Effort{Route: chat.RouteAgent}, func(string) {}); err != nil {
			t.Fatal(err)
		}
		if got := said(m.messages)[0]; got != "system: "+c.want || m.options.MaxTokens != 77 {
			t.Errorf("language %q: %q, at most %d tokens", c.language, got, m.options.MaxTokens)
		}
	}
}

func TestAnswerStreamsAndReturnsTheWhole(t *testing.T) {
	t.Parallel()
	m := &model{pieces: []string{"We have seen to it already: your **or", "der** ", "is on its way."}}
	w := newWorker(t, m, Config{})
	var pieces []string
	got, err := w.Answer(t.Context(), chat.Question{Ticket: chat.Ticket{Language: chat.English}}, chat.Effort{Route: chat.RouteAgent}, func(s string) { pieces = append(pieces, s) })
	if err != nil || !slices.Equal(pieces, m.pieces) {
		t.Errorf("streamed %q, %v", pieces, err)
	}
	if got.Reply.Text != "We have seen to it already: your **order** is on its way." || got.Reply.HTML != "<p>We have seen to it already: your <strong>order</strong> is on its way.</p>" || got.Reply.Locale != chat.English || got.Reply.Sources == nil {
		t.Errorf("reply %+v", got.Reply)
	}
	if got.Route != chat.RouteAgent || got.Reason != "" || *got.Usage != (chat.Usage{PromptTokens: 12, CompletionTokens: 3}) {
		t.Errorf("answer %+v", got)
	}
	if m.options.MaxTokens != 800 {
		t.Errorf("asked for %d tokens", m.options.MaxTokens)
	}
}

func TestAnAnswerAtTheTokenLimitSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorker(t, &model{pieces: []string{"The first thing to"}, stop: "length"}, Config{})
	got, err := w.Answer(t.Context(), chat.Question{}, chat.Effort{Route: chat.RouteAgent}, func(string) {})
	if err != nil || !strings.HasSuffix(got.Reply.Text, "…") || !strings.Contains(got.Reply.HTML, "…") {
		t.Errorf("%+v, %v", got.Reply, err)
	}
}

func TestAFailedAnswerIsNoAnswer(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken off")
	w := newWorker(t, &model{pieces: []string{"half"}, err: broken}, Config{})
	got, err := w.Answer(t.Context(), chat.Question{}, chat.Effort{Route: chat.RouteAgent}, func(string) {})
	if !errors.Is(err, broken) || got.Reply.Text != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFallbackSpeaksForItsIntentAndLanguage(t *testing.T) {
	t.Parallel()
	w := newWorker(t, nil, Config{})
	for _, c := range []struct{ intent, language, text, locale string }{
		{"complaint", chat.Chinese, "很抱歉。", chat.Chinese},
		{"complaint", chat.English, "We are **sorry**.", chat.English},
		{"refund", chat.Chinese, "退款已登记。", chat.Chinese},
		{"refund", chat.English, "We reply later.", chat.English},
		{"unheard of", chat.Chinese, "稍后回复。", chat.Chinese},
		{"", chat.English, "We reply later.", chat.English},
		{"complaint", "", "We are **sorry**.", chat.English},
		{"refund", "fr", "We reply later.", chat.English},
	} {
		got := w.Fallback(&chat.Ticket{Intent: c.intent, Language: c.language}, chat.ReasonOverdue)
		if got.Reply.Text != c.text || got.Reply.Locale != c.locale || got.Route != chat.RouteTemplate || got.Reason != chat.ReasonOverdue || got.Reply.HTML == "" || got.Vendor != "" || got.Usage != nil {
			t.Errorf("%s in %q: %+v", c.intent, c.language, got)
		}
	}
}

func TestConfigNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]Config{
		"worker config: Templates[other][zh] has no text without gaps": {},
		"worker config: Templates[other][en] has no text without gaps": {Templates: map[string]map[string][]string{Other: {chat.Chinese: {"x"}, chat.English: {"{order}"}}}},
		"worker config: MaxTokens must not be negative":                {Templates: testTemplates, MaxTokens: -1},
	} {
		if _, err := New(nil, cfg); err == nil || err.Error() != want {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
}
