package sim

import (
	"bytes"
	"encoding/json"
	"strings"
)

const doneEvent = "data: [DONE]\n\n"

// chunk is one event of a streamed answer.
type chunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []chunkChoice `json:"choices"`

	// Usage is null on all chunks but the last when the caller asked for it, else absent.
	Usage any `json:"usage,omitempty"`
}

type chunkChoice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Role      string      `json:"role,omitempty"`
	Content   *string     `json:"content,omitempty"`
	ToolCalls []toolDelta `json:"tool_calls,omitempty"`
}

type toolDelta struct {
	Index    int           `json:"index"`
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// stream sends the reply chunk by chunk, each at its time.
func (v *Vendor) stream(c *call, req chatRequest, rep reply) {
	s := newStream(c, req, rep)
	deltas := rep.deltas(c.plan.behaviour)
	due := v.offsets(c.plan, len(deltas))
	ended := completed
	for i, d := range deltas {
		if !c.until(due[i]) {
			return
		}
		if i == 0 {
			empty := ""
			s.add(delta{Role: "assistant", Content: &empty})
		}
		if i == len(deltas)/2 {
			switch c.plan.fault {
			case faultStall:
				s.flush()
				<-c.r.Context().Done()
				return
			case faultTruncate:
				c.pass.leave(truncated, Usage{})
				s.flush()
				return
			case faultStreamError:
				c.pass.leave(failed, Usage{})
				s.event(errorBody{errorDetail{Message: "simulated failure", Type: "server_error", Code: "server_error"}})
				s.flush()
				return
			case faultGarbage:
				ended = garbled
				s.buf.WriteString("data: {\"choices\":[{\"delta\":{\"cont\n\n")
			}
		}
		s.add(d)
		if i == len(deltas)-1 {
			s.end()
			c.pass.leave(ended, rep.usage)
		}
		if !s.flush() {
			return
		}
	}
}

// sse collects events and sends them as server-sent events.
type sse struct {
	c     *call
	chunk chunk
	rep   reply
	usage bool
	buf   bytes.Buffer
}

func newStream(c *call, req chatRequest, rep reply) *sse {
	s := &sse{c: c, rep: rep, usage: req.StreamOptions.IncludeUsage}
	s.chunk = chunk{
		ID: "chatcmpl-" + c.id, Object: "chat.completion.chunk", Created: c.arrivedAt.Unix(), Model: req.Model,
	}
	if s.usage {
		s.chunk.Usage = json.RawMessage("null")
	}
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.Header().Set("Cache-Control", "no-cache")
	return s
}

func (s *sse) add(d delta) {
	s.chunk.Choices = []chunkChoice{{Delta: d}}
	s.event(s.chunk)
}

// end adds what follows the last delta, so that it all leaves in one write.
func (s *sse) end() {
	s.chunk.Choices = []chunkChoice{{FinishReason: &s.rep.finish}}
	s.event(s.chunk)
	if s.usage {
		s.chunk.Choices, s.chunk.Usage = []chunkChoice{}, s.rep.usage
		s.event(s.chunk)
	}
	s.buf.WriteString(doneEvent)
}

func (s *sse) event(body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		return // these types hold nothing that JSON cannot
	}
	s.buf.WriteString("data: ")
	s.buf.Write(raw)
	s.buf.WriteString("\n\n")
}

// flush sends what was collected and reports whether the client took it.
func (s *sse) flush() bool {
	_, err := s.c.w.Write(s.buf.Bytes())
	s.buf.Reset()
	return err == nil && s.c.control.Flush() == nil
}

// deltas cuts the reply into what single chunks carry, at least one.
func (r reply) deltas(b Behaviour) []delta {
	if len(r.calls) == 0 {
		return textDeltas(r.content, b.ChunkTokens)
	}
	perCall := make([][]delta, len(r.calls))
	for i, c := range r.calls {
		head := toolDelta{Index: i, ID: c.ID, Type: "function", Function: functionDelta{Name: c.Function.Name}}
		perCall[i] = []delta{{ToolCalls: []toolDelta{head}}}
		args := []rune(c.Function.Arguments)
		for len(args) > 0 {
			n := min(len(args), 4*b.ChunkTokens)
			part := toolDelta{Index: i, Function: functionDelta{Arguments: string(args[:n])}}
			perCall[i] = append(perCall[i], delta{ToolCalls: []toolDelta{part}})
			args = args[n:]
		}
	}
	var out []delta
	if !b.InterleaveTools {
		for _, ds := range perCall {
			out = append(out, ds...)
		}
		return out
	}
	for round, more := 0, true; more; round++ {
		more = false
		for _, ds := range perCall {
			if round < len(ds) {
				out = append(out, ds[round])
				more = true
			}
		}
	}
	return out
}

func textDeltas(content string, size int) []delta {
	tokens := pieces(content)
	out := make([]delta, 0, len(tokens)/size+1)
	for len(tokens) > 0 {
		n := min(size, len(tokens))
		part := strings.Join(tokens[:n], "")
		out = append(out, delta{Content: &part})
		tokens = tokens[n:]
	}
	if len(out) == 0 {
		empty := ""
		out = append(out, delta{Content: &empty})
	}
	return out
}
