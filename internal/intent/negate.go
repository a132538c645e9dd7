package intent

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// What makes a match mean its opposite. The lists are short on purpose: "no refund yet",
// "还没退款" and "没有人工吗" ask for the thing, so a bare "no", 没 or 没有 says nothing.
var (
	beforeZH = regexp.MustCompile(`(?:^|[^是要用])((?:不是|不用|不要|不需要|不必|无需|不想|不打算|没打算|没想|没说|没有说|没要求|没有要|没要|并非|别|別|甭|毋须|不須|無需|並非` +
		`|用不着|犯不着|用不著|没必要|没有必要|不麻烦|不劳烦|不至于|谈不上|算不上|没到|请勿|請勿|切勿|先不|暂不|暂时不|唔使|唔想|唔係|這不是|沒有要|沒要)` +
		`(?:再|来|來|給我|给我|帮我|幫我|给|帮|为了|因为|想|要|说|去|转|轉|接|找|叫|申请|提|什么|我|打|在|麻烦|你们|您|一定|非得|非)*)$`)
	beforeEN = regexp.MustCompile(`(?:\b(?:do|does|did|is|was|are|would|should|have|has|had)(?:n'?t| not)|\bwon'?t|\b(?:not|never|no longer)) ` +
		`(?:really |actually |even |here |yet |be |that i |think (?:i|we)(?:'ll)? )*` +
		`(?:need|want|wanna|require|wish|ask|asked|asking|looking|trying|planning|gonna|going|making|after|bother|worry|about|a|an|to|(?:have|need) to)` +
		filler + `$|\bno need` + filler + `$|\bwho (?:said|says|asked|asks|mentioned) (?:anything |something )?(?:about |for )?` + filler + `$|\b(?:rather than|instead of|without|rather not|(?:nobody|no ?one) (?:needs?|has|have) to)` + filler + `$` +
		`|(?:^|[^t] )(?:never ?mind|nvm|forget|skip)(?: about)?(?: the| a| that)? $`)
	beforePinyin = regexp.MustCompile(`\b(?:bu ?(?:yao|yong|xiang|shi|xu ?yao|bi)|bie|mei ?(?:shuo|xiang))(?: ?(?:zai|lai|gei|bang|yao|xiang|wo|shuo|zhao|jiao|qu))* ?$`)
	afterZH      = regexp.MustCompile(`^(?:服务|客服)?(?:我)?(?:就|都|也)?(?:不用了|不需要|不必了|不要了|算了|免了|(?:不用|不必)(?:[叫找转提打]|联系)[^,。?!]?了)`)
	noPlanZH     = regexp.MustCompile(`(?:没有?|無|无|沒有)$`)
	planZH       = regexp.MustCompile(`^的(?:意思|打算|想法|念头)`)
	// Rhetorical: "这不是欺骗吗" accuses.
	asksZH = regexp.MustCompile(`^[^,.;:!?。、\n]{0,12}[吗嘛么]`)
	noZH   = regexp.MustCompile(`^不(?:投诉|转人工|找人工)`)
	noEN   = regexp.MustCompile(`^(?:not? complain(?:ts?|ing)?|no refunds?)(?:$|[,.!]| (?:here|today|needed|intended|please|from me|about))` +
		`|^no (?:agents?|humans?|person|operators?|call ?backs?)(?: please| needed| required| necessary|, (?:just|only|the bot|please))`)
	// What a customer asks not to be done to them.
	spareMe = regexp.MustCompile(`^(?:(?:please|pls|and|but|so|just|no) )*(?:do not|don't|dont|never) $`)
	doToMe  = regexp.MustCompile(`^(?:transfer|connect|call|phone|ring|put|hand|pass|talk|switch)`)
	// Whose wish it is: of a message that denies all that it names nothing is left.
	whose   = regexp.MustCompile(`(?:\b(?:i(?:'?m| am|'?d| would|'?ve| have|'?ll)?|we(?:'?re| are)?|you|this|it(?:'?s)?|there(?:'?s| is)) ?|我(?:们|們)?(?:可|也|又|并)?|咱们?)$`)
	afterEN = regexp.MustCompile(`^(?: is| was)?(?: not|n't) (?:needed|necessary|required|what i)`)
)

const filler = `(?: (?:a|an|any|the|to|for|of|about|with|my|me|make|making|file|filing|talk|talking|speak|speaking|chat|be|` +
	`ask|asking|request|start|have|get|real|live|human|connected|transferred|another))* ?`

// nearby is how many bytes around a match are looked at.
const nearby = 60

// wish says what a message means by a word for something urgent.
type wish int8

const (
	wanted wish = iota
	unwanted
	ruled // its rules are asked for
)

// negated reports whether the match text[start:end] is denied by its own clause, or has
// another sense than it seems to.
func negated(text string, start, end int) bool {
	_, how := denial(text, start, end)
	return how != wanted
}

// denial returns what text[start:end] means, and where the words that deny it begin, with
// whose wish they deny: start where they follow.
func denial(text string, start, end int) (from int, how wish) {
	at := wholeRunes(text, max(0, start-nearby))
	if i := strings.LastIndexAny(text[at:start], ",.;:!?。、\n"); i >= 0 {
		at += i
		at += len(text[at:start]) - len(strings.TrimLeft(text[at:start], ",.;:!?。、\n "))
	}
	before := text[at:start]
	after := text[end:wholeRunes(text, min(len(text), end+nearby))]
	if from, is := deniedBefore(text[start:end], before, after); is {
		return at + from - len(whose.FindString(before[:from])), unwanted
	}
	switch {
	case general(before, text[start:end], after):
		return start, ruled
	case sensesOther(text[:end], after) || afterZH.MatchString(after) || afterEN.MatchString(after):
		return start, unwanted
	}
	return start, wanted
}

// deniedBefore reports whether what stands before a match in its clause denies it, and
// where in it that begins.
func deniedBefore(match, before, after string) (from int, is bool) {
	lead := before
	if strings.HasPrefix(match, "要") { // a pattern took it from 不需要
		lead += "要"
	}
	if m := beforeZH.FindStringSubmatchIndex(lead); m != nil && !asksZH.MatchString(after) {
		return m[2], true
	}
	if m := noPlanZH.FindStringIndex(before); m != nil && planZH.MatchString(after) {
		return m[0], true
	}
	if from, is := strings.CutSuffix(before, "不"); is && noZH.MatchString("不"+match+after) {
		return len(from), true
	}
	for _, no := range []string{"no ", "not "} {
		if from, is := strings.CutSuffix(before, no); is && noEN.MatchString(no+match+after) {
			return len(from), true
		}
	}
	for _, re := range []*regexp.Regexp{beforePinyin, beforeEN} {
		if m := re.FindStringIndex(before); m != nil {
			return m[0], true
		}
	}
	return 0, spareMe.MatchString(before) && doToMe.MatchString(match)
}

// wholeRunes moves i back to the beginning of a character.
func wholeRunes(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
