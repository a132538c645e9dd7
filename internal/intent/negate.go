package intent

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// What makes a match mean its opposite. The lists are short on purpose: "no refund yet",
// "还没退款" and "没有人工吗" ask for the thing, so a bare "no", 没 or 没有 says nothing.
var (
	beforeZH = regexp.MustCompile(`(?:^|[^是要用])((?:不是|不用|不要|不需要|不必|无需|不想|不打算|没打算|没想|没说|没有说|没要求|没有要|没要|并非|别|甭|毋须|不須|無需|並非)` +
		`(?:再|来|給我|给我|帮我|幫我|给|帮|为了|因为|想|要|说|去|转|接|找|叫|申请|提|什么|我|打|在)*)$`)
	beforeEN = regexp.MustCompile(`(?:\b(?:do|does|did|is|was|are|would|should)(?:n'?t| not)|\b(?:not|never|no longer)) ` +
		`(?:really |actually |even |here |yet )*(?:need|want|wanna|require|wish|ask|asked|asking|looking|trying|planning|gonna|going|making|about|a|an|to)` +
		filler + `$|\bno need` + filler + `$|\b(?:rather than|instead of|without)` + filler + `$`)
	beforePinyin = regexp.MustCompile(`\b(?:bu ?(?:yao|yong|xiang|shi|xu ?yao|bi)|bie|mei ?(?:shuo|xiang))(?: ?(?:zai|lai|gei|bang|yao|xiang|wo|shuo|zhao|jiao|qu))* ?$`)
	afterZH      = regexp.MustCompile(`^(?:服务|客服)?(?:就|都|也)?(?:不用了|不需要|不必了|不要了|算了)`)
	// Rhetorical: "这不是欺骗吗" accuses.
	asksZH = regexp.MustCompile(`^[^,.;:!?。、\n]{0,12}[吗嘛么]`)
	noZH   = regexp.MustCompile(`^不(?:投诉|转人工|找人工)`)
	noEN   = regexp.MustCompile(`^(?:not? complain(?:ts?|ing)?|no refunds?)(?:$|[,.!]| (?:here|today|needed|intended|please|from me|about))` +
		`|^no (?:agents?|humans?|person|operators?|call ?backs?)(?: please| needed| required| necessary|, (?:just|only|the bot|please))`)
	// What a customer asks not to be done to them.
	spareMe = regexp.MustCompile(`^(?:(?:please|pls|and|but|so|just|no) )*(?:do not|don't|dont|never) $`)
	doToMe  = regexp.MustCompile(`^(?:transfer|connect|call|phone|ring|put|hand|pass|talk|switch)`)
	afterEN = regexp.MustCompile(`^(?: is| was)?(?: not|n't) (?:needed|necessary|required|what i)`)
)

const filler = `(?: (?:a|an|any|the|to|for|of|about|with|my|me|make|making|file|filing|talk|talking|speak|speaking|chat|be|` +
	`ask|asking|request|start|have|get|real|live|human|connected|transferred|another))* ?`

// nearby is how many bytes around a match are looked at.
const nearby = 60

// negated reports whether the match text[start:end] is denied by its own clause, or has
// another sense than it seems to.
func negated(text string, start, end int) bool {
	_, is := denial(text, start, end)
	return is
}

// denial returns where the words that deny text[start:end] begin, or start where they follow.
func denial(text string, start, end int) (from int, is bool) {
	at := wholeRunes(text, max(0, start-nearby))
	if i := strings.LastIndexAny(text[at:start], ",.;:!?。、\n"); i >= 0 {
		at += i
		at += len(text[at:start]) - len(strings.TrimLeft(text[at:start], ",.;:!?。、\n "))
	}
	before := text[at:start]
	after := text[end:wholeRunes(text, min(len(text), end+nearby))]
	if m := beforeZH.FindStringSubmatchIndex(before); m != nil && !asksZH.MatchString(after) {
		return at + m[2], true
	}
	if strings.HasSuffix(before, "不") && noZH.MatchString(text[start-len("不"):]) {
		return start - len("不"), true
	}
	for _, no := range []string{"no ", "not "} {
		if strings.HasSuffix(before, no) && noEN.MatchString(text[start-len(no):]) {
			return start - len(no), true
		}
	}
	for _, re := range []*regexp.Regexp{beforePinyin, beforeEN} {
		if m := re.FindStringIndex(before); m != nil {
			return at + m[0], true
		}
	}
	if spareMe.MatchString(before) && doToMe.MatchString(text[start:end]) {
		return at, true
	}
	return start, sensesOther(text[:end], after) || afterZH.MatchString(after) || afterEN.MatchString(after)
}

// Words that give a match another sense: 人工智能 is no person, whoever asks for the policy
// wants no money yet, and a refund that has come is not asked for.
var (
	artificial = regexp.MustCompile(`^(?:智能|草坪|草皮|草|湖|皮革|皮|革|合成|色素|甜味剂|香精|授粉|养殖|降雨|呼吸|关节|耳蜗|心脏|费|費|成本|工资|宝石|水晶|钻石|流产|受孕|气候|打磨|缝制)`)
	rulesOf    = regexp.MustCompile(`^(?:的)?(?:政策|规则|規則|规定|条件|條款|条款|标准|说明)|^ (?:policy|policies|terms|conditions|rules?)\b`)
	settled    = regexp.MustCompile(`^(?:的钱)?(?:已经|已經|都|刚刚|刚)*(?:收到|到账|到帳|到了|处理好|解决)(?:了|啦)?[,.! 。~]*(?:谢|多谢|感谢|辛苦|没事|没问题|好评|$)` +
		`|^ (?:has |was |is |have |just )*(?:been )?(?:received|arrived|came(?: through)?|come(?: through)?|landed|in my account|went through|gone through)(?: (?:today|now|yesterday|already))?[,.! ]*(?:thanks|thank|thx|ty\b|cheers|great|perfect|all good|good|$)`)
)

// sensesOther reports whether what follows a match gives it another sense than that of its
// pattern. before ends with the match.
func sensesOther(before, after string) bool {
	return strings.HasSuffix(before, "人工") && artificial.MatchString(after) || rulesOf.MatchString(after) || settled.MatchString(after)
}

// wholeRunes moves i back to the beginning of a character.
func wholeRunes(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
