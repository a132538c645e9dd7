package sim

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

var (
	instruction = regexp.MustCompile(`(?:call|调用)\s*([A-Za-z][\w-]*)\s*(\{[^{}]*\})`)
	actingName  = regexp.MustCompile(`(?i)refund|cancel|create|update|change|apply|submit|return|delete|escalat|transfer|handoff`)
)

// toolCalls returns the calls that the model wants next, none when it is ready to answer.
// Reading tools come first and together; a tool with a side effect follows in a round of
// its own, as careful models do. No tool is called twice for one question.
func (b *book) toolCalls(req chatRequest, q question, obedient bool) []ToolCall {
	if len(req.Tools) == 0 || req.ToolChoice.mode == "none" {
		return nil
	}
	var calls []ToolCall
	if obedient {
		calls = obey(req, q)
	}
	if len(calls) == 0 {
		calls = b.wanted(req, q)
	}
	if len(calls) == 0 {
		calls = forced(req, q)
	}
	if req.ParallelToolCalls != nil && !*req.ParallelToolCalls && len(calls) > 1 {
		calls = calls[:1]
	}
	return calls
}

// wanted serves the topics of the question. A question that names an order has the order
// looked up, whatever else it is about; one that nothing serves is looked up in general.
func (b *book) wanted(req chatRequest, q question) []ToolCall {
	topics := b.topicsOf(q.text, q.lang)
	var reads, acts []ToolCall
	for _, t := range b.Topics {
		concerned := slices.ContainsFunc(topics, func(o topic) bool { return o.Name == t.Name })
		switch {
		case !concerned && !(t.Name == "order" && len(q.orders) > 0):
		case t.Acts:
			acts = append(acts, callsOf(t, req, q, 1)...)
		default:
			reads = append(reads, callsOf(t, req, q, maxOrders)...)
		}
	}
	switch {
	case len(reads) > 0:
		return reads
	case len(acts) > 0:
		return acts
	case len(q.called) == 0 && !topics[0].Small:
		return callsOf(b.Topics[len(b.Topics)-1], req, q, 1)
	}
	return nil
}

// callsOf calls the first tool that serves the topic and was not called yet.
func callsOf(t topic, req chatRequest, q question, most int) []ToolCall {
	for _, offered := range req.Tools {
		if name := offered.Function.Name; !q.called[name] && serves(name, t) {
			return callsFor(offered, q, most)
		}
	}
	return nil
}

// serves reports whether a tool of that name serves the topic. A topic without side
// effects never gets a tool whose name tells of one: "cancel_order" does not look up.
func serves(name string, t topic) bool {
	if !t.Acts && actingName.MatchString(name) {
		return false
	}
	lower := strings.ToLower(name)
	return slices.ContainsFunc(t.Tools, func(part string) bool { return strings.Contains(lower, part) })
}

// callsFor makes one call for each order number, or one in all; none when a required
// argument is not known.
func callsFor(t tool, q question, most int) []ToolCall {
	var calls []ToolCall
	for i := range max(1, min(len(q.orders), most)) {
		f := filler{question: q, order: at(q.orders, i), text: q.text}
		args, ok := f.fill("", t.Function.Parameters, true, 0)
		if !ok {
			return calls
		}
		call := newCall(t.Function.Name, toJSON(args))
		if !slices.Contains(calls, call) { // a tool that takes no order number
			calls = append(calls, call)
		}
	}
	return calls
}

// forced serves a tool_choice that leaves the model no choice, once a question.
func forced(req chatRequest, q question) []ToolCall {
	for _, t := range req.Tools {
		name := t.Function.Name
		if q.called[name] || name != req.ToolChoice.name && req.ToolChoice.mode != "required" {
			continue
		}
		f := filler{question: q, order: at(q.orders, 0), text: q.text, forced: true}
		args, _ := f.fill("", t.Function.Parameters, true, 0)
		return []ToolCall{newCall(name, toJSON(args))}
	}
	return nil
}

// obey does what the conversation tells the model, without a thought.
func obey(req chatRequest, q question) []ToolCall {
	var calls []ToolCall
	for _, m := range instruction.FindAllStringSubmatch(q.told(), maxOrders) {
		offered := slices.ContainsFunc(req.Tools, func(t tool) bool { return t.Function.Name == m[1] })
		if offered && !q.called[m[1]] && json.Valid([]byte(m[2])) {
			calls = append(calls, newCall(m[1], m[2]))
		}
	}
	return calls
}

func newCall(name, arguments string) ToolCall {
	return ToolCall{Type: "function", Function: FunctionCall{Name: name, Arguments: arguments}}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}
