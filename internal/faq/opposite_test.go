package faq

import "testing"

// TestNoAnswerSaysTheOpposite asks for what an entry undoes, or says that its deed is not
// wanted, or asks the same of another thing: at most an offer.
func TestNoAnswerSaysTheOpposite(t *testing.T) {
	t.Parallel()
	b := shopOf(t)
	for text, entry := range map[string]string{
		"怎么恢复自动续费": "membership_cancel", "怎么打开自动续费": "membership_cancel", "turn automatic renewal back on": "membership_cancel",
		"我不想取消会员": "membership_cancel", "I don't want to cancel my membership": "membership_cancel",
		"不要注销我的账号": "account_delete", "please do not delete my account": "account_delete",
		"add one less": "increase_quantity", "台灯怎么安装": "assembly_service", "how do I install the lamp": "assembly_service",
		"别取消我的订单": "cancel_before_shipping", "don't cancel my order": "cancel_before_shipping",
	} {
		if m := b.Match(text, ""); m.Tier == Answer && m.Entry == entry {
			t.Errorf("%q is answered by %s, certain to %.2f", text, m.Entry, m.P)
		}
	}
	for text, entry := range map[string]string{
		"怎么关闭自动续费？": "membership_cancel", "取消会员后剩下的时间还能用不": "membership_cancel", "delete account": "account_delete", "想加一件": "increase_quantity",
	} {
		if m := b.Match(text, ""); m.Tier != Answer || m.Entry != entry {
			t.Errorf("%q is %s, %s", text, m.Tier, m.Entry)
		}
	}
}
