package bell

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"sluice/internal/alert"
	"sluice/internal/hook"
)

// Kind is the shape that a webhook takes.
type Kind string

// The kinds.
const (
	Generic  Kind = "generic" // Standard Webhooks, signed
	Slack    Kind = "slack"
	DingTalk Kind = "dingtalk"
	Feishu   Kind = "feishu"
	WeCom    Kind = "wecom"
)

// Hook is one webhook that alerts are told to.
type Hook struct {
	ID     string // of the same webhook always the same
	Kind   Kind
	URL    string // holds a secret of the receiver's: never shown
	Secret string // empty: nothing is signed; generic needs one
	Lang   alert.Lang
	Fault  string // why nothing can be sent: a variable that is not set; empty: nothing is amiss
}

// answered is what a chat room says of a message: with status 200 it may still refuse it.
type answered struct {
	ErrCode *int `json:"errcode"` // DingTalk, WeCom
	Code    *int `json:"code"`    // Feishu
}

// send makes one try at now. The fault is empty when the message was taken.
func (h Hook) send(ctx context.Context, s *hook.Sender, m alert.Send, link string, now time.Time) (fault string, pause time.Duration) {
	if h.Fault != "" {
		return h.Fault, 0
	}
	if h.Kind == Generic {
		body, err := json.Marshal(generic(m, h.Lang, link))
		if err != nil {
			return "the message cannot be encoded", 0
		}
		a := s.Send(ctx, hook.Message{ID: m.ID, URL: h.URL, Body: body, Secrets: []string{h.Secret}}, now)
		return a.Fault, a.RetryAfter
	}
	req, err := h.request(ctx, m, link, now)
	if err != nil {
		return err.Error(), 0
	}
	a, body := s.Do(req, now)
	if !a.Delivered() {
		return a.Fault, a.RetryAfter
	}
	var said answered
	_ = json.Unmarshal(body, &said) // Slack says "ok"
	for _, code := range []*int{said.ErrCode, said.Code} {
		if code != nil && *code != 0 {
			return fmt.Sprintf("refused with the code %d", *code), 0
		}
	}
	return "", 0
}

// request makes the message in the shape of the room.
func (h Hook) request(ctx context.Context, m alert.Send, link string, now time.Time) (*http.Request, error) {
	t, url := textOf(m, h.Lang), h.URL
	var shape any
	switch h.Kind {
	case Slack:
		shape = slack(t, h.Lang, link)
	case DingTalk:
		shape = dingTalk(t, h.Lang, link)
		if h.Secret != "" {
			signed, err := dingTalkURL(url, h.Secret, now)
			if err != nil {
				return nil, err
			}
			url = signed
		}
	case Feishu:
		shape = feishu(t, h.Lang, link, h.Secret, now)
	case WeCom:
		shape = weCom(t, h.Lang, link)
	default:
		return nil, fmt.Errorf("the kind %q is not known", h.Kind)
	}
	body, err := json.Marshal(shape)
	if err != nil {
		return nil, fmt.Errorf("encode the message: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, errURL
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Sluice-Alerts/1")
	return req, nil
}
