package intent

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Words that give a match another sense: 人工智能 is no person, whoever asks for the policy
// wants no money yet, and a refund that has come is not asked for.
var (
	artificial = regexp.MustCompile(`^(?:智能|草坪|草皮|草|湖|皮革|皮|革|合成|色素|甜味剂|香精|授粉|养殖|降雨|呼吸|关节|耳蜗|心脏|费|費|成本|工资|宝石|水晶|钻石|流产|受孕|气候|打磨|缝制)`)
	settled    = regexp.MustCompile(`^(?:的钱)?(?:已经|已經|都|刚刚|刚)*(?:收到|到账|到帳|到了|处理好|解决)(?:了|啦)?[,.! 。~]*(?:谢|多谢|感谢|辛苦|没事|没问题|好评|$)` +
		`|^ (?:has |was |is |have |just )*(?:been )?(?:received|arrived|came(?: through)?|come(?: through)?|landed|in my account|went through|gone through)(?: (?:today|now|yesterday|already))?[,.! ]*(?:thanks|thank|thx|ty\b|cheers|great|perfect|all good|good|$)`)
)

// sensesOther reports whether what follows a match gives it another sense than that of its
// pattern. before ends with the match.
func sensesOther(before, after string) bool {
	return strings.HasSuffix(before, "人工") && artificial.MatchString(after) || settled.MatchString(after)
}

// Who asks how refunds are handled in general asks about returns, and for no money yet.
var (
	rulesOf = regexp.MustCompile(`^(?:的)?(?:政策|规则|規則|规定|規定|制度|须知|条件|條款|条款|标准|说明)|^ (?:policy|policies|terms|conditions|rules?)\b`)
	money   = regexp.MustCompile(`^(?:仅?退款|退钱|退錢|退费|退費|refunds?|money back)$`)
	usualOf = regexp.MustCompile(`^(?:的)?流程(?:一般|通常)?(?:是|怎么样|怎样|什么样|有哪些)|^(?:和|与|跟|同)(?:换货|退货|换新)[^,。?!]{0,4}区别` +
		`|^ (?:usually|normally|generally|typically|work)\b`)
	ruleFor = regexp.MustCompile(`(?:什么是|何谓|何為|(?:一般|通常)(?:情况下|来说|来讲)?|(?:哪些|什么|啥)(?:商品|东西|產品|产品|情况|种类)下?(?:支持|可以|能|不能|不支持|不可以)(?:申请)?)$` +
		`|\bhow (?:long |fast |quickly )?(?:do|does)(?: (?:a|an|your|all))* ?$|\bdifference between (?:a |an )?$` +
		`|\b(?:terms|rules?|policy|policies|conditions|guidelines) (?:on|for|about|of|regarding)(?: (?:a|your|the))? ?$`)
	beforehand = regexp.MustCompile(`(?:买|下单|购买|買)之?前,?(?:先|想|要|再)*(?:问|問|咨询|确认|了解)|\bbefore i (?:buy|order|purchase)\b|\bthinking of (?:buying|ordering)\b`)
	// Who has a case of their own does not ask in general.
	ownCase = regexp.MustCompile(`^[^,.?!]{0,24}(?:我这|我那|我的|该退|\bmy (?:order|money|refund|parcel|purchase)\b|\bowed?\b)`)
)

// general reports whether the rules for a match are asked for, not the thing.
func general(before, match, after string) bool {
	return rulesOf.MatchString(after) && !ownCase.MatchString(after) ||
		money.MatchString(match) && (usualOf.MatchString(after) || ruleFor.MatchString(before) || beforehand.MatchString(before+match+after))
}

// inGeneral is what the model reads in the place of such a match.
func inGeneral(match string) string {
	switch {
	case !money.MatchString(match):
		return ""
	case match[0] < utf8.RuneSelf:
		return "return or refund"
	}
	return "退货退款"
}
