package faq

import (
	"testing"
)

func TestGuardTellsOpposites(t *testing.T) {
	t.Parallel()
	g, v := newGuard(), newVocabulary(nil)
	for _, row := range []struct {
		question, phrasing string
		want               bool
	}{
		{"提高额度", "降低额度", true},
		{"怎么提高额度", "额度可以增加吗", false},
		{"数量从一把改成四把", "数量从四把改成两把", true},
		{"make it four instead of one", "make it two instead of four", true},
		{"make it three instead of two", "make it four instead of one", false},
		{"cancel after dispatch", "cancel, it hasn't left yet, awaiting dispatch", true},
		{"公司发票", "个人发票", true},
		{"公司发票还是个人发票", "个人发票", false},
		{"怎么恢复自动续费", "怎么关闭自动续费", true},
		{"怎么打开自动续费", "怎么关闭自动续费", true},
		{"turn automatic renewal back on", "switch off auto renew", true},
		{"我不想取消会员", "取消会员后剩下的时间还能用不", true},
		{"不要注销我的账号", "注销账号", true},
		{"I don't want to delete my account", "delete account", true},
		{"注销账号", "我不想注销账号", true},
		{"怎么取消会员", "取消会员后剩下的时间还能用不", false},
		{"不想用了，怎么注销", "注销账号", false},
		{"不想要了怎么退货", "退货怎么操作", false},
		{"don't want it, how do I return it", "how do I return an item", false},
		{"add one less", "add another", true},
		{"台灯怎么安装", "衣柜安装费", true},
		{"refund timing", "退款多久", false},
	} {
		got := g.sides(v.plain(row.question)).against(g.sides(v.plain(row.phrasing)))
		if got != row.want {
			t.Errorf("%q against %q: %t, want %t", row.question, row.phrasing, got, row.want)
		}
	}
}

func TestGuardKeepsShortQuestionsBack(t *testing.T) {
	t.Parallel()
	g, v := newGuard(), newVocabulary(nil)
	for text, want := range map[string]bool{
		"为什么": true, "怎么办": true, "退款": true, "退款多久": false, "什么时候发货": false,
		"why": true, "how much": true, "refund": true, "refund time": false, "can I return": true, "退plus": true,
	} {
		if got := g.short(v.plain(text)); got != want {
			t.Errorf("short(%q) = %t, want %t", text, got, want)
		}
	}
}
