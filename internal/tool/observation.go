package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sluice/internal/chat"
)

// maxObservation is the most bytes of an observation: tools must not crowd the customer's
// words out of a prompt.
const maxObservation = 6 << 10

// wording is what a model is told in one language. %s is the tool's name.
type wording struct {
	away, unknown, often, arguments, anonymous, busy, failed, refused, long string
}

var texts = map[string]wording{
	chat.Chinese: {
		away:      "（该服务目前繁忙，请勿调用，直接告诉客户稍后再试）",
		unknown:   "没有名为 %s 的工具",
		often:     "本次回答中 %s 已经调用过足够多次，请用已有的结果回答",
		arguments: "%s 的参数不对：%s",
		anonymous: "客户尚未登录，%s 无法查询个人信息；请客户先登录",
		busy:      "服务 %s 繁忙，暂时无法使用；请告诉客户稍后再试",
		failed:    "服务 %s 暂时不可用；请告诉客户稍后再试",
		refused:   "服务 %s 拒绝了这个请求",
		long:      "结果太长，只有开头",
	},
	chat.English: {
		away:      " (This service is busy at the moment: do not call it, tell the customer to try again later.)",
		unknown:   "there is no tool named %s",
		often:     "%s was called often enough for this answer; answer with the results you have",
		arguments: "the arguments of %s are wrong: %s",
		anonymous: "the customer has not signed in, so %s cannot look up anything personal; ask them to sign in",
		busy:      "the service %s is busy and cannot be used now; tell the customer to try again later",
		failed:    "the service %s is unavailable; tell the customer to try again later",
		refused:   "the service %s refused the request",
		long:      "the result is too long, this is its beginning",
	},
}

func (r *Run) texts() wording { return texts[r.language()] }

// fault is an observation that tells of something that went wrong.
func (r *Run) fault(text string, about ...any) string {
	return r.masked(encoded(map[string]string{"error": fmt.Sprintf(text, about...)}))
}

// observe returns what the model is told of a result.
func (r *Run) observe(t *known, got result) string {
	switch {
	case got.state == busy:
		return r.fault(r.texts().busy, t.Name)
	case got.state == unknown:
		return r.fault(r.texts().failed, t.Name)
	case got.body == nil && got.state == refused:
		return r.fault(r.texts().refused, t.Name)
	}
	return r.masked(r.bounded(string(compact(got.body))))
}

// bounded shortens a result that is too long, and says so.
func (r *Run) bounded(text string) string {
	if len(text) <= maxObservation {
		return text
	}
	text = text[:maxObservation]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return encoded(map[string]string{"note": r.texts().long, "beginning": text})
}

// masked hides the keys of all tools: one that repeats its own must not make it known.
func (r *Run) masked(text string) string {
	for _, key := range r.set.keys {
		text = strings.ReplaceAll(text, key, "***")
	}
	return text
}

func compact(body json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, body) != nil {
		return body
	}
	return out.Bytes()
}

func encoded(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "{}" // strings only: it does not happen
	}
	return strings.TrimSpace(out.String())
}
