package sim

import (
	"net/http"
	"slices"
	"strconv"
)

// reply is what the simulated model says: text or tool calls.
type reply struct {
	content string
	calls   []ToolCall
	finish  string // stop, length or tool_calls
	usage   Usage
}

type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   Usage    `json:"usage"`
}

type choice struct {
	Index        int           `json:"index"`
	Message      answerMessage `json:"message"`
	FinishReason string        `json:"finish_reason"`
}

type answerMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"` // null beside tool calls
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
}

// chat answers one completion request.
func (v *Vendor) chat(c *call) {
	req, err := decodeChat(c.body)
	if err != nil {
		c.fail(invalid, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	if v.cfg.Record {
		v.log.add(prompt(req, c))
	}
	rep := v.book.reply(req, c.plan.behaviour.Obedient)
	for i := range rep.calls {
		rep.calls[i].ID = "call_" + c.id + "-" + strconv.Itoa(i)
	}
	if req.Stream {
		v.stream(c, req, rep)
		return
	}
	v.answer(c, req, rep)
}

// answer sends the reply in one piece, at the time its last token would have come.
func (v *Vendor) answer(c *call, req chatRequest, rep reply) {
	chunks := rep.deltas(c.plan.behaviour)
	if !c.until(v.offsets(c.plan, len(chunks))[len(chunks)-1]) {
		return
	}
	ended := completed
	switch c.plan.fault {
	case faultStall:
		<-c.r.Context().Done()
		return
	case faultStreamError:
		c.fail(failed, http.StatusInternalServerError, "server_error", "simulated failure")
		return
	case faultGarbage:
		c.pass.leave(garbled, Usage{})
		c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = c.w.Write([]byte("<html><body><h1>Bad gateway</h1></body></html>\n"))
		return
	case faultTruncate:
		ended = truncated
	}
	message := answerMessage{Role: "assistant", ToolCalls: rep.calls}
	if len(rep.calls) == 0 {
		message.Content = &rep.content
	}
	c.finish(ended, rep.usage, completion{
		ID: "chatcmpl-" + c.id, Object: "chat.completion", Created: c.arrivedAt.Unix(), Model: req.Model,
		Choices: []choice{{Message: message, FinishReason: rep.finish}},
		Usage:   rep.usage,
	})
}

func prompt(req chatRequest, c *call) Prompt {
	p := Prompt{
		ReceivedAt: c.arrivedAt, Model: req.Model, Stream: req.Stream,
		Messages: slices.Clone(req.Messages), bytes: len(c.body),
	}
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, t.Function.Name)
	}
	return p
}

// models lists one model. It is not metered, but fails as calls do: a probe that used it
// would otherwise see a dead vendor alive.
func (v *Vendor) models(w http.ResponseWriter, r *http.Request) {
	p := v.plan()
	switch {
	case p.fault == faultRefuse:
		reset(w)
	case p.fault == faultHang:
		<-r.Context().Done()
	case p.fault == faultError:
		status := p.behaviour.ErrorStatus
		writeError(w, status, errorCode(status), "simulated failure")
	case !v.authorised(r):
		writeError(w, http.StatusUnauthorized, "invalid_api_key", "the API key is wrong")
	default:
		writeJSON(w, http.StatusOK, map[string]any{
			"object": "list",
			"data": []map[string]any{
				{"id": "model-l", "object": "model", "created": 0, "owned_by": v.cfg.Name},
				{"id": "model-s", "object": "model", "created": 0, "owned_by": v.cfg.Name},
			},
		})
	}
}
