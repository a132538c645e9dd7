package entity

import (
	"slices"
	"strings"

	"sluice/internal/chat"
)

// cue is what a word says of the number after it.
type cue int

const (
	cueNone cue = iota
	cueOrder
	cueTracking
	cueParcel // a parcel, which people name by its order as well
	cuePhone
	cueOwn // "my number", which is a phone where it looks like one
	cueCard
	cuePaper
	cueAmount
	cueOther // a number that is none of ours: an invoice, a code, a size
)

func (c cue) entity() chat.EntityKind {
	if c == cueTracking || c == cueParcel {
		return chat.EntityTracking
	}
	return chat.EntityOrder
}

// cues by word, in lower case.
var cues = map[string]cue{
	"order": cueOrder, "orders": cueOrder, "ordernumber": cueOrder, "orderno": cueOrder, "dingdan": cueOrder,
	"tracking": cueTracking, "parcel": cueParcel, "package": cueParcel, "shipment": cueParcel, "waybill": cueTracking, "awb": cueTracking,
	"consignment": cueTracking, "ups": cueTracking, "fedex": cueTracking, "dhl": cueTracking, "usps": cueTracking, "ems": cueTracking, "kuaidi": cueParcel,
	"phone": cuePhone, "mobile": cuePhone, "tel": cuePhone, "telephone": cuePhone, "cell": cuePhone, "cellphone": cuePhone, "call": cuePhone,
	"contact": cuePhone, "whatsapp": cuePhone, "fax": cuePhone, "landline": cuePhone, "text": cuePhone, "dianhua": cuePhone, "shouji": cuePhone, "reach": cuePhone,
	"card": cueCard, "visa": cueCard, "mastercard": cueCard, "amex": cueCard, "debit": cueCard, "credit": cueCard, "unionpay": cueCard,
	"id": cuePaper, "ssn": cuePaper, "passport": cuePaper, "identity": cuePaper, "identification": cuePaper, "licence": cuePaper, "license": cuePaper,
	"rmb": cueAmount, "cny": cueAmount, "usd": cueAmount, "eur": cueAmount, "gbp": cueAmount, "hkd": cueAmount,
	"invoice": cueOther, "ticket": cueOther, "coupon": cueOther, "code": cueOther, "model": cueOther, "size": cueOther, "zip": cueOther,
	"postcode": cueOther, "sku": cueOther, "item": cueOther, "version": cueOther, "serial": cueOther, "vat": cueOther,
}

// hanCues by their first character.
var hanCues = map[string][]struct {
	word string
	cue  cue
}{
	"订": {{"订单", cueOrder}}, "訂": {{"訂單", cueOrder}}, "单": {{"单号", cueOrder}}, "單": {{"單號", cueOrder}},
	"运": {{"运单", cueTracking}}, "運": {{"運單", cueTracking}}, "快": {{"快递", cueParcel}, {"快遞", cueParcel}},
	"物": {{"物流", cueParcel}}, "包": {{"包裹", cueParcel}}, "顺": {{"顺丰", cueTracking}}, "圆": {{"圆通", cueTracking}},
	"中": {{"中通", cueTracking}}, "韵": {{"韵达", cueTracking}}, "申": {{"申通", cueTracking}},
	"手": {{"手机", cuePhone}, {"手機", cuePhone}}, "电": {{"电话", cuePhone}, {"电邮", cueOther}}, "電": {{"電話", cuePhone}},
	"座": {{"座机", cuePhone}}, "联": {{"联系", cuePhone}}, "聯": {{"聯繫", cuePhone}, {"聯絡", cuePhone}}, "传": {{"传真", cuePhone}}, "热": {{"热线", cuePhone}},
	"卡": {{"卡", cueCard}}, "银": {{"银行", cueCard}}, "銀": {{"銀行", cueCard}}, "账": {{"账号", cueCard}}, "帳": {{"帳號", cueCard}},
	"身": {{"身份", cuePaper}, {"身分", cuePaper}}, "证": {{"证件", cuePaper}}, "證": {{"證件", cuePaper}}, "护": {{"护照", cuePaper}}, "護": {{"護照", cuePaper}},
	"发": {{"发票", cueOther}}, "發": {{"發票", cueOther}}, "税": {{"税号", cueOther}}, "邮": {{"邮编", cueOther}}, "优": {{"优惠", cueOther}},
	"型": {{"型号", cueOther}}, "验": {{"验证码", cueOther}}, "驗": {{"驗證碼", cueOther}}, "货": {{"货号", cueOther}}, "工": {{"工号", cueOther}}, "尾": {{"尾号", cueOther}, {"尾號", cueOther}},
}

// fillers stand between a cue and its number and belong to the cue.
const (
	wordFillers = " number numbers no num nr id is was with # "
	hanFillers  = "号號码碼是为為编編证證行卡递遞流单單机機话話"
)

// heed notes what a word at text[start:end], in lower case, says.
func (s *scan) heed(word string, start, end int) {
	if s.cue != cueNone && start-s.cueEnd <= 3 && s.cue != cueCard && strings.Contains(wordFillers, " "+word+" ") && word != "with" {
		s.cueEnd = end
		return
	}
	c, is := cues[word]
	if word == "number" && strings.HasSuffix(strings.ToLower(s.text[max(0, start-3):start]), "my ") {
		c, is = cueOwn, true
	}
	if is {
		s.cue, s.cueEnd = c, end
	}
}

// heedHan notes what the Han characters at i say and returns where they end; 0: nothing.
func (s *scan) heedHan(i int) int {
	char := s.text[i : i+3]
	for _, c := range hanCues[char] {
		if strings.HasPrefix(s.text[i:], c.word) {
			if c.word == "单号" || c.word == "單號" {
				if (s.cue == cueTracking || s.cue == cueParcel) && s.cueEnd == i { // 快递单号
					s.cue, s.cueEnd = cueTracking, i+len(c.word)
					return s.cueEnd
				}
			}
			s.cue, s.cueEnd = c.cue, i+len(c.word)
			return s.cueEnd
		}
	}
	if s.cue != cueNone && i-s.cueEnd <= 1 && strings.Contains(hanFillers, char) {
		s.cueEnd = i + 3
		return s.cueEnd
	}
	return 0
}

// firm reports whether the last cue stands right before a number that begins at i.
func (s *scan) firm(i int, want ...cue) bool {
	if i-s.cueEnd > 4 {
		return false
	}
	return slices.Contains(want, s.cue)
}

// ordered reports whether what follows a number calls it an order.
func ordered(after string) bool {
	after = strings.TrimLeft(after, " ,")
	for _, says := range [...]string{"这个订单", "这单", "这个单", "订单", "号订单", "的订单", "這個訂單", "訂單", "这笔订单", "is my order", "is the order", "(order"} {
		if strings.HasPrefix(after, says) {
			return true
		}
	}
	return false
}
