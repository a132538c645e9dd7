package sim

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// reply makes the model's answer. It depends on the request alone: an equal question at
// an equal history gets an equal answer.
func (b *book) reply(req chatRequest, obedient bool) reply {
	q := understand(req)
	rep := reply{finish: "stop", calls: b.toolCalls(req, q, obedient)}
	completion := 0
	if len(rep.calls) > 0 {
		rep.finish = "tool_calls"
		for _, c := range rep.calls {
			completion += 8 + countTokens(c.Function.Name) + countTokens(c.Function.Arguments)
		}
	} else {
		rep.content = b.compose(req, q)
		if obedient {
			rep.content = parrot(req, q, rep.content)
		}
		if limit := req.limit(); limit > 0 {
			if tokens := pieces(rep.content); len(tokens) > limit {
				rep.content, rep.finish = strings.Join(tokens[:limit], ""), "length"
			}
		}
		completion = countTokens(rep.content)
	}
	asked := promptTokens(req)
	rep.usage = Usage{PromptTokens: asked, CompletionTokens: completion, TotalTokens: asked + completion}
	return rep
}

// compose writes the text of an answer.
func (b *book) compose(req chatRequest, q question) string {
	topics := b.topicsOf(q.text, q.lang)
	seed := hashOf(req.Messages)
	answer := b.phrase(req, q, topics[0], seed)
	if q.earlier != "" && mentions(q.text, q.lang, b.Voices[q.lang].Back) {
		lead := strings.ReplaceAll(b.Voices[q.lang].FollowUp, "{earlier}", clip(q.earlier, 36))
		answer = lead + answer
	}
	switch req.ResponseFormat.Type {
	case "json_object":
		return toJSON(map[string]any{"answer": answer, "topic": topics[0].Name, "language": q.lang})
	case "json_schema":
		f := filler{question: q, text: answer, topic: topics[0].Name, forced: true}
		value, _ := f.fill("answer", req.ResponseFormat.JSONSchema.Schema, true, 0)
		return toJSON(value)
	}
	return answer
}

// phrase chooses a phrasing and fills it in. Tool results come before passages, and both
// before what the model says by itself.
func (b *book) phrase(req chatRequest, q question, t topic, seed uint64) string {
	v := b.Voices[q.lang]
	choices := t.Answers[q.lang]
	result := ""
	p, cited := q.bestSource()
	switch {
	case len(q.answers) > 0:
		choices = v.Found
		lines := make([]string, len(q.answers))
		for i, a := range q.answers {
			summary, ok := summarise(a)
			if !ok {
				choices = v.Failed
			}
			lines[i] = summary
		}
		result = strings.Join(lines, "; ")
	case cited:
		choices = v.Cited
	case t.Order && len(q.orders) == 0 && len(req.Tools) > 0:
		choices = v.Ask
	}
	text := choices[seed%uint64(len(choices))]
	return strings.NewReplacer(
		"{quote}", q.quote(), "{result}", result,
		"{passage}", clip(p.text, 300), "{source}", "["+p.number+"]",
	).Replace(text)
}

// summarise turns a tool's result into words, and reports false when it tells of an error.
func summarise(result string) (string, bool) {
	var fields map[string]any
	if json.Unmarshal([]byte(result), &fields) != nil {
		return clip(strings.Join(strings.Fields(result), " "), 200), true
	}
	if e, found := fields["error"]; found {
		return clip(fmt.Sprint(e), 200), false
	}
	names := make([]string, 0, len(fields))
	for name, value := range fields {
		switch value.(type) {
		case string, float64, bool:
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return clip(result, 200), true
	}
	slices.Sort(names)
	parts := make([]string, 0, len(names))
	for _, name := range names[:min(len(names), 8)] {
		parts = append(parts, fmt.Sprintf("%s %v", strings.ReplaceAll(name, "_", " "), fields[name]))
	}
	return clip(strings.Join(parts, ", "), 300), true
}

// hashOf covers the conversation without its system prompts, which may hold the time.
func hashOf(messages []Message) uint64 {
	h := fnv.New64a()
	for _, m := range messages {
		if m.Role != "system" && m.Role != "developer" {
			_, _ = fmt.Fprintf(h, "%s\x00%s\x00", m.Role, m.Content) // a hash never fails
		}
	}
	sum := h.Sum64()
	return (sum ^ sum>>33) * 0xff51afd7ed558ccd >> 33 // FNV alone leaves similar texts alike modulo 3
}

func toJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "{}" // values come from JSON or are strings, so this does not happen
	}
	return string(raw)
}
