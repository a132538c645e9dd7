package worker

import (
	"fmt"
	"time"

	"sluice/internal/chat"
)

// promised says what a reply promises: within which time, to which number (its last four
// digits), under which code.
var promised = map[string]string{
	chat.Chinese: "完整的答复准备好后，我们会在 %s内发短信通知您尾号 %s 的手机，短信里的编号是 %s。",
	chat.English: "As soon as the full answer is ready we will text the number ending in %[2]s, within %[1]s; the text carries the code %[3]s.",
}

// Promise adds to an answer to t that the full one follows, as the ticket followUp. It
// does no I/O.
func (w *Worker) Promise(a chat.Answer, t *chat.Ticket, followUp string, p chat.Promise) chat.Answer {
	language := a.Reply.Locale
	if promised[language] == "" {
		language = chat.English
	}
	tail := t.Phone[max(0, len(t.Phone)-4):]
	text := fmt.Sprintf(promised[language], span(language, time.Until(p.DueAt)), tail, chat.ShortCode(followUp))
	reply := w.reply(a.Reply.Text+"\n\n"+text, a.Reply.Locale)
	reply.Sources, reply.Choices = a.Reply.Sources, a.Reply.Choices
	a.Reply = reply
	return a
}

// span writes a time as people say it: in whole minutes, from two hours on in whole hours,
// rounded up.
func span(language string, d time.Duration) string {
	n, unit := int((d+time.Minute-1)/time.Minute), "minute"
	if n >= 120 {
		n, unit = (n+59)/60, "hour"
	}
	n = max(n, 1)
	if language == chat.Chinese {
		return fmt.Sprintf("%d %s", n, map[string]string{"minute": "分钟", "hour": "小时"}[unit])
	}
	if n > 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
