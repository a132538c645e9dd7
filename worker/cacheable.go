package worker

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/chat"
)

// Small talk is answered anew each time, and what is not understood may mean anything.
var unshared = []string{Other, "greeting", "thanks_bye"}

// Limits of what is taken for a question of many: a longer text tells a story of its own,
// and so many digits in a row are a number of somebody's.
const (
	longestShared = 300 // characters
	digitsOwn     = 5
)

// Cacheable reports whether the answer to a ticket may be given to others who ask the same:
// nothing in it, nor in the session before it, belongs to one customer. What the answer
// itself holds is looked at when it is there.
func Cacheable(t *chat.Ticket, history []chat.Event) bool {
	switch {
	case t.Urgent, t.Customer != nil, t.Deed != nil, t.RetryOf != "", t.Lane == chat.Deferred:
		return false
	case t.Mood == chat.MoodAngry, t.Mood == chat.MoodDesperate: // their answers speak to that
		return false
	case t.Mood != "" && t.Mood != chat.MoodCalm, slices.ContainsFunc(t.Entities, owned):
		return false
	case slices.Contains(unshared, t.Intent), own.MatchString(t.Message), utf8.RuneCountInString(t.Message) > longestShared, personal(t.Message):
		return false
	}
	return !slices.ContainsFunc(history, func(e chat.Event) bool {
		return e.Kind == chat.KindMessage && (e.Who == chat.ByBot || e.Who == chat.ByHuman)
	})
}

// own tells a question about the asker's own things: what belongs to them, what they have
// done, how it stands with them. Others who ask the same mean theirs.
var own = regexp.MustCompile(`(?i)\b(?:my|mine|our|ours|myself)\b|\bi(?:'| ?ha)(?:ve|d)\b|\bi[’']ve\b` +
	`|\b(?:am|was|did|have|had|has|are|were) (?:i|we)\b|\b(?:i|we)(?: (?:just|already|never|only|still))? (?:am|was|were|did|had|paid|ordered|bought|sent|returned|got|received|placed|cancelled|canceled|signed|used|made|applied|asked|haven|didn|wasn|lost|forgot)` +
	`|\bwhere(?: is|'s|’s) (?:it|the (?:order|parcel|package|refund|money))\b|\b(?:the|this|that) (?:order|parcel|package|refund)(?: has| is|'s)\b` +
	`|\b(?:has|have|did|was|will) (?:the|this|that) (?:order|parcel|package|refund|delivery|shipment)\b|\blast time\b|\b(?:mr|mrs|ms|miss|dr)\.? ?\p{L}` +
	`|\bis (?:the|this|that) (?:order|parcel|package|shipment)\b|\b(?:has|have) ?(?:not|n[’']t)\b|\b(?:arrived|come|shipped|dispatched|delivered|refunded) yet\b|\bon (?:its|the) way\b` +
	`|\bw[oǒ] ?de\b|(?:订|訂|买|買|拍|寄)的|上次|(?:先生|女士|小姐)(?:的|订|訂|买|買|那)` +
	`|(?:我|俺|咱|本人|咱们|我们|我們|咱們|我家|家里)(?:自己)?(?:的|这|那|這|已|刚|剛|昨|前|上|今|没|沒|还|還|有|买|買|下|付|申|退|寄|收|订|訂|拍|交|用了|被|账|帐|帳|賬|号|订单|快递|包裹|货|東西|东西|钱|錢|积分|會員|会员|密码)` +
	`|(?:订单|快递|包裹|退款|物流|訂單|快遞|包裹|貨|货|钱|款)(?:现在|到底|怎么|怎麼|咋|都|还|還|是不是|究竟)*(?:到哪|到了|没到|沒到|在哪|没收|到账|到帳|发了|發了|发货了|签收)`)

// owned reports whether a thing that a message names makes it a matter of one customer, or
// of one day. A sum does not.
func owned(e chat.Entity) bool { return e.Kind != chat.EntityAmount }

// personal reports whether a text holds a mail address or a number long enough to be that of
// an order, a parcel, a phone, a card or a day. Signs between digits do not end a number.
func personal(text string) bool {
	digits, gap := 0, 0
	for _, r := range text {
		switch {
		case r == '@' || r == '＠':
			return true
		case unicode.IsDigit(r) || strings.ContainsRune("〇零一二三四五六七八九幺", r):
			digits, gap = digits+1, 0
		case digits > 0 && gap == 0 && (unicode.IsPunct(r) || unicode.IsSpace(r)):
			gap++
		default:
			digits, gap = 0, 0
		}
		if digits >= digitsOwn {
			return true
		}
	}
	return false
}

// What a reply must not hold: blanks that a model leaves for somebody to fill in, and the
// mark of an answer that reached its limit. The names of links are no blanks.
var (
	blanks   = regexp.MustCompile(`(?i)\{\{|\$\{|⟦|[\[【<][^\]】>\n]{0,24}(name|number|order|phone|address|date|姓名|名字|称呼|订单|号码|电话|地址|日期)[^\]】>\n]{0,24}[\]】>]`)
	cut      = regexp.MustCompile(`(?m) …$`)
	linkName = regexp.MustCompile(`\[[^\]\n]*\]\(`)
)

// whole reports whether a reply is complete and speaks to nobody in particular.
func whole(text string) bool {
	text = linkName.ReplaceAllString(strings.TrimSpace(text), "(")
	return text != "" && !cut.MatchString(text) && !blanks.MatchString(text)
}
