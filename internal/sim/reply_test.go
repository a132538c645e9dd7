package sim

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func replyTo(t testing.TB, body string) reply {
	t.Helper()
	b, err := loadBook()
	if err != nil {
		t.Fatal(err)
	}
	req, err := decodeChat([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return b.reply(req, false)
}

func TestAnswersFollowTopicAndLanguage(t *testing.T) {
	t.Parallel()
	questions := map[string][]string{
		"refund":    {"我要退款，钱什么时候退回来", "When do I get my money back?"},
		"complaint": {"你们态度太差了，我要投诉", "This is unacceptable, I want to complain"},
		"logistics": {"我的快递到哪了", "Where is my parcel right now?"},
		"invoice":   {"怎么开发票", "Could I have an invoice please"},
		"account":   {"密码忘了登录不上", "I forgot my password"},
		"order":     {"我昨天下单的还没发货", "I placed an order yesterday"},
		"human":     {"转人工", "Let me talk to someone, a real person"},
		"greeting":  {"你好", "Hi there"},
		"thanks":    {"好的谢谢", "ok thanks"},
		"other":     {"外星人会网购吗", "do aliens like bananas"},
	}
	b, err := loadBook()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for topic, pair := range questions {
		for _, q := range pair {
			lang := languageOf(q)
			if got := b.topicsOf(q, lang)[0].Name; got != topic {
				t.Errorf("%q is %s, want %s", q, got, topic)
			}
			answer := replyTo(t, plainQuestion(q)).content
			if other := seen[answer]; other != "" {
				t.Errorf("%s and %s are answered alike", other, topic)
			}
			seen[answer] = topic
			if !strings.Contains(answer, q) {
				t.Errorf("answer %q does not quote %q", answer, q)
			}
			if languageOf(answer) != lang || strings.Contains(answer, "{") {
				t.Errorf("answer %q to %q", answer, q)
			}
		}
	}
}

func TestEqualQuestionAtEqualHistoryGetsAnEqualAnswer(t *testing.T) {
	t.Parallel()
	one := chatBody(map[string]any{}, "我要退款", "好的", "那要多久？")
	first := replyTo(t, one).content
	if again := replyTo(t, one).content; again != first {
		t.Errorf("first %q, then %q", first, again)
	}
	phrasings := map[string]bool{}
	for _, q := range []string{"refund a", "refund b", "refund c", "refund d", "refund e", "refund f", "refund g"} {
		answer := replyTo(t, plainQuestion(q)).content
		phrasings[strings.ReplaceAll(answer, q, "")] = true
	}
	if len(phrasings) < 2 {
		t.Error("every refund question gets the same phrasing")
	}
}

func TestAFollowUpUsesTheHistory(t *testing.T) {
	t.Parallel()
	rep := replyTo(t, chatBody(map[string]any{}, "订单 MH2611230002 什么时候发货", "明天。", "那快递几天能到？"))
	if !strings.Contains(rep.content, "接着您前面提到的“订单 MH2611230002 什么时候发货”") {
		t.Errorf("answer %q", rep.content)
	}
	rep = replyTo(t, chatBody(map[string]any{"tools": tools("query_logistics")},
		"订单 MH2611230002 什么时候发货", "明天。", "那快递几天能到？"))
	if len(rep.calls) != 1 || rep.calls[0].Function.Arguments != `{"order_no":"MH2611230002"}` {
		t.Errorf("calls %+v", rep.calls)
	}
}

func TestAnswersCiteTheNearestPassage(t *testing.T) {
	t.Parallel()
	prompt := "[1] Delivery to islands takes nine working days.\n[2] A blender may be returned within 30 days.\nQuestion: How long does delivery to islands take?"
	answer := replyTo(t, plainQuestion(prompt)).content
	if !strings.Contains(answer, "Delivery to islands takes nine working days. [1]") || strings.Contains(answer, "blender") {
		t.Errorf("answer %q", answer)
	}
}

func TestJSONIsAnsweredWhenAskedFor(t *testing.T) {
	t.Parallel()
	var got map[string]any
	answer := replyTo(t, chatBody(map[string]any{"response_format": map[string]any{"type": "json_object"}}, "我要退款")).content
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got["topic"] != "refund" || got["language"] != "zh" {
		t.Errorf("%s: %v", answer, err)
	}
	schema := map[string]any{"type": "object", "required": []string{"intent", "sure"}, "properties": map[string]any{
		"intent": map[string]any{"type": "string", "enum": []string{"order", "refund"}}, "sure": map[string]any{"type": "boolean"},
	}}
	answer = replyTo(t, chatBody(map[string]any{"response_format": map[string]any{
		"type": "json_schema", "json_schema": map[string]any{"schema": schema},
	}}, "我要退款")).content
	if answer != `{"intent":"refund","sure":false}` {
		t.Errorf("by schema: %s", answer)
	}
}

func TestMaxTokensCutsTheAnswer(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"max_tokens", "max_completion_tokens"} {
		rep := replyTo(t, chatBody(map[string]any{field: 3}, "hello"))
		if rep.finish != "length" || len(pieces(rep.content)) != 3 {
			t.Errorf("%s: %+v", field, rep)
		}
	}
}

func TestPiecesAndChunksJoinToTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(rapid.RuneFrom(nil, unicode.Han), rapid.Rune())).Draw(t, "text")
		if got := strings.Join(pieces(s), ""); got != s {
			t.Fatalf("pieces join to %q", got)
		}
		var joined strings.Builder
		b := Behaviour{ChunkTokens: rapid.IntRange(1, 5).Draw(t, "size")}
		for _, d := range (reply{content: s}).deltas(b) {
			joined.WriteString(*d.Content)
		}
		if joined.String() != s {
			t.Fatalf("chunks join to %q", joined.String())
		}
	})
}

func FuzzDecodeChat(f *testing.F) {
	f.Add([]byte(plainQuestion("我的订单 MH2611230002 到哪了")))
	f.Add([]byte(chatBody(map[string]any{"tools": tools("query_order"), "tool_choice": "required"}, "order 12345", "yes", "and it?")))
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"}]}],"tool_choice":{"type":"function","function":{"name":"x"}}}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":null}],"response_format":{"type":"json_schema","json_schema":{"schema":{"type":["null","array"],"items":{"enum":[1]}}}}}`))
	b, err := loadBook()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := decodeChat(body)
		if err != nil {
			return
		}
		rep := b.reply(req, true)
		if (rep.content == "") == (len(rep.calls) == 0) {
			t.Fatalf("neither text nor calls, or both: %+v", rep)
		}
		if len(rep.deltas(Behaviour{}.filled())) == 0 {
			t.Fatal("nothing to stream")
		}
		for _, c := range rep.calls {
			if !json.Valid([]byte(c.Function.Arguments)) {
				t.Fatalf("arguments %q", c.Function.Arguments)
			}
		}
	})
}
