package tool

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sluice/internal/chat"
)

// Question is what the customer is asked before a deed; false: nothing. It stands in the
// conversation by our code, not by the model's word.
func (r *Run) Question() (text string, deed chat.Deed, asked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asks == nil {
		return "", chat.Deed{}, false
	}
	t := r.set.named(r.asks.Tool)
	text = filled(t.Question[r.language()], values(r.asks.Arguments))
	for _, order := range r.later {
		text += " " + fmt.Sprintf(r.texts().deedLater, plainText(order))
	}
	return text, *r.asks, true
}

// Confirmed returns the deed that the customer's message agrees to: only where it comes
// right after our question, which named the order and what is done to it, and says yes and
// nothing else. Neither the model nor anything in the text of a message has a say in it.
func (r *Run) Confirmed() (chat.Deed, bool) {
	ticket := &r.question.Ticket
	last := chat.Event{}
	for _, e := range r.question.History {
		if e.Ticket != ticket.ID && e.Seq < ticket.Seq && e.Seq > last.Seq {
			last = e
		}
	}
	if last.Who != chat.ByBot || last.Asks == nil || r.customer() == "" || !Agrees(ticket.Message) {
		return chat.Deed{}, false
	}
	t := r.set.named(last.Asks.Tool)
	if t == nil || !t.Confirm {
		return chat.Deed{}, false
	}
	object, err := t.arguments.read(string(last.Asks.Arguments))
	if err != nil {
		return chat.Deed{}, false // the rules have changed since
	}
	deed, err := deedOf(t, object)
	return deed, err == nil && deed.Order == last.Asks.Order
}

// yes are the words of a message that agrees. It may hold nothing besides them and manners.
var yes = map[string]bool{
	"确认": true, "我确认": true, "确认退款": true, "确定": true, "确认提交": true, "是": true, "是的": true, "对": true, "对的": true,
	"好": true, "好的": true, "可以": true, "同意": true, "我同意": true, "没问题": true, "提交": true, "提交吧": true, "嗯": true, "行": true,
	"確認": true, "確定": true, "同意退款": true, "沒問題": true,
	"yes": true, "y": true, "yeah": true, "yep": true, "ok": true, "okay": true, "sure": true, "confirm": true, "confirmed": true,
	"i confirm": true, "i agree": true, "agreed": true, "go ahead": true, "please do": true, "correct": true, "do it": true, "submit": true,
	"submit it": true, "yes i confirm": true, "yes go ahead": true, "yes confirm": true, "yes do it": true,
}

var manners = map[string]bool{
	"请": true, "谢谢": true, "謝謝": true, "麻烦了": true, "您好": true, "你好": true, "吧": true, "的": true, "了": true,
	"please": true, "thanks": true, "thank you": true,
}

// longestYes is in bytes: nobody needs more.
const longestYes = 200

// Agrees reports whether a message says yes and nothing else.
func Agrees(message string) bool {
	if len(message) > longestYes {
		return false
	}
	agreed := false
	parts := strings.FieldsFunc(strings.ToLower(norm.NFKC.String(message)), func(r rune) bool {
		return r == ',' || r == '.' || r == '!' || r == ';' || r == '\n' || r == '。' || r == '、' || r == '~'
	})
	for _, part := range parts {
		part = strings.Join(strings.FieldsFunc(part, unicode.IsSpace), " ")
		part = blunt(part)
		switch {
		case yes[part]:
			agreed = true
		case part != "" && !manners[part]:
			return false
		}
	}
	return agreed
}

// blunt takes the manners off the ends of a part, one after the other.
func blunt(part string) string {
	for !yes[part] && !manners[part] {
		rest := part
		for word := range manners {
			if cut, found := strings.CutSuffix(part, word); found {
				rest = cut
			} else if cut, found := strings.CutPrefix(part, word); found {
				rest = cut
			}
		}
		if rest = strings.TrimSpace(rest); rest == part {
			return part
		}
		part = rest
	}
	return part
}

// filled puts values into the places of a text. Places of values that are not there go.
func filled(text string, values map[string]any) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		b.WriteString(before)
		if !found || !closed {
			return b.String()
		}
		switch v := values[name].(type) {
		case string:
			b.WriteString(plainText(v))
		case float64:
			b.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
		case bool:
			b.WriteString(fmt.Sprint(v))
		}
		text = after
	}
}

// plainText keeps a value from being read as markup or as several lines.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .-_:/+,，。（）()", r) {
			return r
		}
		return -1
	}, s)
}
