package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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

	// To the model: the customer was asked, or cannot be asked for one more.
	asked, oneAtATime string
	// To the customer, of a deed. %s is the order.
	deedRefused, deedBusy, deedInProgress, deedHanded, deedLater, deedEarlier string
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

		asked:          "系统正在请客户确认，尚未提交",
		oneAtATime:     "%s：一次只能请客户确认一笔申请，这一笔没有提交",
		deedLater:      "订单 %s 的申请这次没有提交，请在这一笔之后再提出。",
		deedEarlier:    "订单 %s 之前已经提交过申请，这次没有再提交：",
		deedRefused:    "订单 %s 的申请没有提交成功：",
		deedBusy:       "系统繁忙，订单 %s 的申请没有提交，也没有产生任何变化。请稍后再试。",
		deedInProgress: "订单 %s 的申请已经在处理中，不用重复提交。",
		deedHanded:     "订单 %s 的申请已发出，但系统没有确认结果。我们已转给人工核实，会尽快答复您；请不要重复提交。",
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

		asked:          "the customer is being asked to confirm; nothing was submitted",
		oneAtATime:     "%s: the customer can be asked to confirm one request at a time; this one was not submitted",
		deedLater:      "The request for order %s was not submitted: please ask for it again after this one.",
		deedEarlier:    "For order %s there was a request before, and nothing more was submitted now: ",
		deedRefused:    "The request for order %s was not accepted: ",
		deedBusy:       "The system is busy: the request for order %s was not submitted and nothing has changed. Please try again a little later.",
		deedInProgress: "The request for order %s is being worked on already; there is no need to send it again.",
		deedHanded:     "The request for order %s was sent, but its result was not confirmed. A colleague looks into it and will get back to you; please do not send it again.",
	},
}

func (r *Run) texts() wording { return texts[r.language()] }

// complain is an observation that tells of something that went wrong.
func (r *Run) complain(text string, about ...any) string {
	return r.masked(encoded(map[string]string{"error": fmt.Sprintf(text, about...)}))
}

// observe returns what the model is told of a result.
func (r *Run) observe(t *known, got result) string {
	switch {
	case got.state == busy:
		return r.complain(r.texts().busy, t.Name)
	case got.state == unknown:
		return r.complain(r.texts().failed, t.Name)
	case got.body == nil && got.state == refused:
		return r.complain(r.texts().refused, t.Name)
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

// Report tells the customer what came of a deed, in our own words.
func (r *Run) Report(v Verdict) string {
	w, order := r.texts(), plainText(v.Claim.Order)
	switch v.Outcome {
	case Done:
		all := values(v.Claim.Result)
		maps.Copy(all, values(v.Claim.Arguments))
		done := filled(r.set.named(v.Claim.Tool).Done[r.language()], all)
		if v.earlier {
			return fmt.Sprintf(w.deedEarlier, order) + done
		}
		return done
	case Refused:
		reason, _ := values(v.answer)["error"].(string)
		if reason == "" {
			reason = fmt.Sprintf(w.refused, v.Claim.Tool)
		}
		return fmt.Sprintf(w.deedRefused, order) + plainText(reason)
	case Busy:
		return fmt.Sprintf(w.deedBusy, order)
	case InProgress:
		return fmt.Sprintf(w.deedInProgress, order)
	}
	return fmt.Sprintf(w.deedHanded, order)
}

// values returns the fields of a JSON object; none of anything else.
func values(object json.RawMessage) map[string]any {
	all := map[string]any{}
	if json.Unmarshal(object, &all) != nil || all == nil {
		return map[string]any{}
	}
	return all
}
