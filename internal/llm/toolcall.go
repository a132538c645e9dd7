package llm

import (
	"encoding/json"
	"strconv"
	"strings"
)

// toolDelta is a piece of a tool call.
type toolDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string; an object at some vendors
	} `json:"function"`
}

func (d *toolDelta) arguments() string {
	if isNull(d.Function.Arguments) {
		return ""
	}
	var s string
	if json.Unmarshal(d.Function.Arguments, &s) == nil {
		return s
	}
	return string(d.Function.Arguments)
}

// toolCall is a tool call under assembly.
type toolCall struct {
	id, name  string
	arguments strings.Builder
}

// toolCalls assembles the tool calls of an answer from its deltas, in the order in which they began. By the book the
// index tells calls apart; in practice it may be missing, stay 0 for all, or drift within one call.
type toolCalls struct {
	all     []*toolCall
	byIndex map[int]*toolCall // the latest call under an index
}

// add takes in a delta and returns the bytes of arguments it brought.
func (t *toolCalls) add(d *toolDelta) int {
	arguments := d.arguments()
	if d.ID == "" && d.Function.Name == "" && arguments == "" {
		return 0 // a trailing delta; it opens no call
	}
	call := t.find(d)
	if call == nil || opens(call, d, arguments) {
		call = &toolCall{id: t.unique(d.ID)}
		t.all = append(t.all, call)
	}
	if d.Index != nil {
		if t.byIndex == nil {
			t.byIndex = make(map[int]*toolCall)
		}
		t.byIndex[*d.Index] = call
	}
	if call.id == "" {
		call.id = d.ID
	}
	if call.name == "" {
		call.name = d.Function.Name
	}
	call.arguments.WriteString(arguments)
	return len(arguments)
}

// find returns the call that a delta seems to belong to: by id, by index, and a bare piece to the last one.
func (t *toolCalls) find(d *toolDelta) *toolCall {
	if d.ID != "" {
		for i := len(t.all) - 1; i >= 0; i-- {
			if t.all[i].id == d.ID {
				return t.all[i]
			}
		}
	}
	if d.Index != nil {
		if call := t.byIndex[*d.Index]; call != nil {
			return call
		}
	}
	if d.ID == "" && (d.Function.Name == "" || d.Index == nil) && len(t.all) > 0 {
		return t.all[len(t.all)-1]
	}
	return nil
}

// opens reports whether a delta begins another call than the one it was found to belong to. Only a name can begin one.
func opens(call *toolCall, d *toolDelta, arguments string) bool {
	switch {
	case d.Function.Name == "" || call.name == "":
		return false
	case d.ID != "" && call.id != "" && d.ID != call.id:
		return true
	case d.Function.Name != call.name:
		return true
	}
	// The name is repeated: with each piece, or by the next call of the same tool. Arguments that are complete do not
	// go on.
	return strings.TrimSpace(arguments) != "" && json.Valid([]byte(call.arguments.String()))
}

// unique keeps ids apart at vendors that give one to several calls: results are matched by it.
func (t *toolCalls) unique(id string) string {
	if id == "" {
		return ""
	}
	own := id
	for n := 2; t.has(own); n++ {
		own = id + "_" + strconv.Itoa(n)
	}
	return own
}

func (t *toolCalls) has(id string) bool {
	for _, call := range t.all {
		if call.id == id {
			return true
		}
	}
	return false
}

// complete returns the calls without phantoms, which have neither name nor arguments.
func (t *toolCalls) complete() ([]*toolCall, *Error) {
	var calls []*toolCall
	for _, call := range t.all {
		switch {
		case call.name != "":
			calls = append(calls, call)
		case call.arguments.Len() > 0:
			return nil, &Error{Kind: Malformed, Err: errToolCall}
		}
	}
	return calls, nil
}
