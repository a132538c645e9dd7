package intent

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// What makes a match mean its opposite. The lists are short on purpose: "no refund yet",
// "还没退款" and "没有人工吗" ask for the thing, so a bare "no", 没 or 没有 says nothing.
var (
	beforeZH = regexp.MustCompile(`(?:^|[^是要用])(?:不是|不用|不要|不需要|不必|无需|不想|不打算|没打算|没想|并非|别|甭|毋须|不須|無需|並非)` +
		`(?:再|来|給我|给我|帮我|幫我|给|帮|为了|因为|想|要|说|去|转|接|找|叫|申请|提|什么|我|打|在)*$`)
	beforeEN = regexp.MustCompile(`(?:\b(?:do|does|did|is|was|are|would|should)(?:n'?t| not)|\b(?:not|never|no longer)) ` +
		`(?:really |actually |even |here |yet )*(?:need|want|wanna|require|wish|asking|looking|trying|planning|gonna|going|making|about|a|an|to)` +
		filler + `$|\bno need` + filler + `$|\b(?:rather than|instead of|without)` + filler + `$`)
	afterZH = regexp.MustCompile(`^(?:服务|客服)?(?:就|都|也)?(?:不用了|不需要|不必了|不要了|算了)`)
	// Rhetorical: "这不是欺骗吗" accuses.
	asksZH  = regexp.MustCompile(`^[^,.;:!?。、\n]{0,12}[吗嘛么]`)
	noZH    = regexp.MustCompile(`^不(?:投诉|转人工|找人工)`)
	noEN    = regexp.MustCompile(`^(?:not? complain(?:ts?|ing)?|no refunds?)(?:$|[,.!]| (?:here|today|needed|intended|please|from me|about))`)
	afterEN = regexp.MustCompile(`^(?: is| was)?(?: not|n't) (?:needed|necessary|required|what i)`)
)

const filler = `(?: (?:a|an|any|the|to|for|of|about|with|my|me|make|making|file|filing|talk|talking|speak|speaking|chat|be|` +
	`ask|asking|request|start|have|get|real|live|human|connected|transferred|another))* ?`

// nearby is how many bytes around a match are looked at.
const nearby = 60

// negated reports whether the match text[start:end] is denied by its own clause.
func negated(text string, start, end int) bool {
	before := text[wholeRunes(text, max(0, start-nearby)):start]
	if i := strings.LastIndexAny(before, ",.;:!?。、\n"); i >= 0 {
		before = strings.TrimLeft(before[i:], ",.;:!?。、\n ")
	}
	after := text[end:wholeRunes(text, min(len(text), end+nearby))]
	if beforeZH.MatchString(before) && !asksZH.MatchString(after) {
		return true
	}
	if strings.HasSuffix(before, "不") && noZH.MatchString(text[start-len("不"):]) {
		return true
	}
	for _, no := range []string{"no ", "not "} {
		if strings.HasSuffix(before, no) && noEN.MatchString(text[start-len(no):]) {
			return true
		}
	}
	return beforeEN.MatchString(before) || afterZH.MatchString(after) || afterEN.MatchString(after)
}

// wholeRunes moves i back to the beginning of a character.
func wholeRunes(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
