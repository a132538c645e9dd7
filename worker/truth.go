package worker

import (
	"regexp"
	"strings"

	"sluice/internal/chat"
)

// transfers are the words by which a model says that people take over, or already have: what
// it could or may do is not among them.
var transfers = []*regexp.Regexp{
	regexp.MustCompile(`(已|已经|正在|现在就?|马上|立即|这就)[为帮给替]?(您|你)?[^。！？!?\n不没未]{0,12}(转接|转给|转到|转至|转交|接通|接入|呼叫|通知)[^。！？!?\n]{0,8}(人工|真人|专员|坐席|座席|客服|同事)`),
	regexp.MustCompile(`(已|正在)[为帮给替]?(您|你)?转(接)?人工`),
	regexp.MustCompile(`(?i)\b(i|we)(['’](ve|m|re)| have| am| are|)\s+((now|already|just)\s+)?(transferr(ed|ing)|hand(ed|ing)|connect(ed|ing)|escalat(ed|ing)|pass(ed|ing)|forward(ed|ing))\b[^.!?\n]{0,60}\b(humans?|agents?|colleagues?|person|people|representatives?|specialists?|advisors?|operators?|support team|staff)\b`),
	regexp.MustCompile(`(?i)\byou( are|['’]re) (now )?being (transferred|handed|connected|passed)\b|\byou( have|['’]ve) (now |already |just )?been (transferred|handed over|connected)\b`),
}

// claimsTransfer reports whether a text says that people take over.
func claimsTransfer(text string) bool {
	for _, words := range transfers {
		if words.MatchString(text) {
			return true
		}
	}
	return false
}

// truthful makes of an answer one that says what happens: where a person was called and the
// model has no word of it, the customer gets ours; where the model says that people take over
// though it called nobody, they are asked to. The customer may have read it already.
func (w *Worker) truthful(ans chat.Answer, t *chat.Ticket, called bool) chat.Answer {
	switch {
	case called && strings.TrimSpace(ans.Reply.Text) == "":
		ans.Reply, ans.Handoff = w.Handoff(t), chat.HandoffTool
	case called:
		ans.Handoff = chat.HandoffTool
	case claimsTransfer(ans.Reply.Text):
		ans.Handoff = chat.HandoffClaim
	}
	return ans
}
