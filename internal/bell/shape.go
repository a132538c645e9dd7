package bell

import (
	"strings"
	"time"
	"unicode/utf8"

	"sluice/internal/alert"
)

// Most bytes of a text, below what each room takes.
const (
	maxWeCom    = 4000
	maxDingTalk = 15_000
	maxSlack    = 30_000
	maxFeishu   = 15_000
)

// event is the generic message: Standard Webhooks' type, timestamp and data.
type event struct {
	Type string    `json:"type"`
	At   time.Time `json:"timestamp"`
	Data struct {
		Test   bool   `json:"test,omitempty"`
		Firing []told `json:"firing"`
		Ended  []told `json:"ended"`
		More   int    `json:"more,omitempty"`
		Text   string `json:"text"`
		Link   string `json:"link,omitempty"`
	} `json:"data"`
}

// told is one alert in the generic message.
type told struct {
	Key       string         `json:"key"`
	Name      alert.Name     `json:"name"`
	Severity  alert.Severity `json:"severity"`
	Target    string         `json:"target"`
	Since     time.Time      `json:"since"`
	EndedAt   *time.Time     `json:"ended_at,omitempty"`
	Value     float64        `json:"value"`
	Threshold float64        `json:"threshold"`
	Summary   string         `json:"summary"`
	Help      string         `json:"help"`
}

func generic(m alert.Send, l alert.Lang, link string) event {
	e := event{Type: "alert.changed", At: m.At}
	e.Data.Test, e.Data.Link, e.Data.More = m.Test, link, m.More
	e.Data.Firing, e.Data.Ended = toldOf(m.Firing, l), toldOf(m.Ended, l)
	e.Data.Text = lines(textOf(m, l), "- ", "\n", maxSlack)
	return e
}

func toldOf(all []alert.Alert, l alert.Lang) []told {
	out := make([]told, 0, len(all))
	for _, a := range all {
		t := told{
			Key: a.Key, Name: a.Name, Severity: a.Severity, Target: a.Target, Since: a.Since, Value: a.Value, Threshold: a.Threshold,
			Summary: a.Summary(l), Help: a.Name.Help(l),
		}
		if !a.EndedAt.IsZero() {
			t.EndedAt = &a.EndedAt
		}
		out = append(out, t)
	}
	return out
}

type obj = map[string]any

func slack(t text, l alert.Lang, link string) any {
	body := escape(lines(t, "• ", "\n", maxSlack))
	if link != "" {
		body += "\n<" + escape(link) + "|" + say(l, "打开告警页", "Open the alerts") + ">"
	}
	return obj{"text": body}
}

// escape is for Slack, where these three signs alone mean something.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

func dingTalk(t text, l alert.Lang, link string) any {
	return obj{"msgtype": "markdown", "markdown": obj{
		"title": t.title, "text": "#### " + lines(t, "- ", "\n\n", maxDingTalk) + markdownLink(l, link, "\n\n"),
	}}
}

func weCom(t text, l alert.Lang, link string) any {
	tail := markdownLink(l, link, "\n")
	return obj{"msgtype": "markdown", "markdown": obj{"content": "#### " + lines(t, "> ", "\n", maxWeCom-len(tail)) + tail}}
}

func markdownLink(l alert.Lang, link, newline string) string {
	if link == "" {
		return ""
	}
	return newline + "[" + say(l, "打开告警页", "Open the alerts") + "](" + link + ")"
}

// feishu is a rich text, signed where there is a secret.
func feishu(t text, l alert.Lang, link, secret string, now time.Time) any {
	var content [][]obj
	for line := range strings.SplitSeq(lines(text{firing: t.firing, ended: t.ended, more: t.more}, "• ", "\n", maxFeishu), "\n") {
		content = append(content, []obj{{"tag": "text", "text": line}})
	}
	if link != "" {
		content = append(content, []obj{{"tag": "a", "text": say(l, "打开告警页", "Open the alerts"), "href": link}})
	}
	lang := say(l, "zh_cn", "en_us")
	shape := obj{"msg_type": "post", "content": obj{"post": obj{lang: obj{"title": t.title, "content": content}}}}
	if secret != "" {
		shape["timestamp"], shape["sign"] = feishuSign(secret, now)
	}
	return shape
}

// lines writes the text: its title, each alert with what to do, of at most most bytes.
func lines(t text, mark, newline string, most int) string {
	var all []string
	if t.title != "" {
		all = append(all, t.title)
	}
	for _, i := range t.firing {
		line := mark + i.what
		if i.help != "" {
			line += newline + "  " + i.help
		}
		all = append(all, line)
	}
	for _, i := range t.ended {
		all = append(all, mark+i.what)
	}
	if t.more != "" {
		all = append(all, mark+t.more)
	}
	return cut(strings.Join(all, newline), most)
}

// cut shortens a text to at most so many bytes, between two signs.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	at := most - len("…")
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at] + "…"
}
