package bell

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"sluice/internal/alert"
)

// text is a message before it has the shape of a room.
type text struct {
	title  string
	firing []item
	ended  []item
	more   string // what was left out; empty: nothing
}

// item is one alert: what is wrong, and what to do. Both are without signs of any markup.
type item struct{ what, help string }

func textOf(m alert.Send, l alert.Lang) text {
	if m.Test {
		return text{title: say(l, "Sluice：测试消息", "Sluice: a test"), firing: []item{{
			what: say(l, "这是一条测试消息，没有告警。", "This is a test. Nothing is wrong."),
		}}}
	}
	t := text{title: title(m, l)}
	for _, a := range m.Firing {
		what := fmt.Sprintf("[%s] %s", a.Severity.Title(l), a.Summary(l))
		if m.At.Sub(a.Since) >= time.Minute {
			what += say(l, "，始于 ", ", since ") + a.Since.UTC().Format("2006-01-02 15:04 UTC")
		}
		t.firing = append(t.firing, item{plain(what), a.Name.Help(l)})
	}
	for _, a := range m.Ended {
		t.ended = append(t.ended, item{what: plain(say(l, "[已恢复] ", "[all clear] ") + a.Summary(l))})
	}
	if m.More > 0 {
		t.more = fmt.Sprintf(say(l, "另有 %d 条", "%d more"), m.More)
	}
	return t
}

// title counts what the message tells.
func title(m alert.Send, l alert.Lang) string {
	var parts []string
	if n := len(m.Firing); n == 1 {
		parts = append(parts, m.Firing[0].Name.Title(l))
	} else if n > 1 {
		parts = append(parts, fmt.Sprintf(say(l, "%d 条告警", "%d alerts"), n))
	}
	if n := len(m.Ended); n == 1 {
		parts = append(parts, say(l, "已恢复：", "all clear: ")+m.Ended[0].Name.Title(l))
	} else if n > 1 {
		parts = append(parts, fmt.Sprintf(say(l, "%d 条已恢复", "%d all clear"), n))
	}
	return say(l, "Sluice：", "Sluice: ") + strings.Join(parts, say(l, "，", ", "))
}

// plain takes out of a text what a room could take for markup: names of vendors and hosts
// come from outside.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		if strings.ContainsRune("*_`~<>|\\#@", r) {
			return '-'
		}
		return r
	}, s)
}

func say(l alert.Lang, zh, en string) string {
	if l == alert.Chinese {
		return zh
	}
	return en
}
