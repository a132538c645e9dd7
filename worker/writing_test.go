package worker

import (
	"testing"

	"sluice/internal/chat"
)

func TestWritingOfReplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, text string
		whole          writing
	}{
		{chat.Chinese, "您的订单已经发货，预计明天送达。", right},
		{chat.Chinese, "Your order has been shipped and arrives tomorrow.", wrong},
		{chat.Chinese, "Sorry to hear that! Please give me your order number.", wrong},
		{chat.Chinese, "OK", right},
		{chat.Chinese, "MH2611280012: SF1234567890123", right},
		{chat.Chinese, "iPhone 15 Pro Max 已发货", right},
		{chat.Chinese, "Apple MacBook Pro, Sony Bravia, Samsung Galaxy Ultra, Canon PowerShot, Nikon Coolpix", right},
		{chat.Chinese, "请访问 https://shop.example/returns/how-to-send-something-back-to-us 查看。", right},
		{chat.Chinese, "```\nselect status from orders where number is unknown and nothing else\n```\n好的", right},
		{chat.Chinese, "我们的说明写着“Parcels usually arrive within two to four days after dispatch”。", right},
		{chat.Chinese, "您的訂單已經發貨，預計明天送達。", right},
		{chat.Chinese, "ご注文は明日届きますので、もうしばらくお待ちください", wrong},
		{chat.Chinese, "発送しました。", wrong},
		{chat.Chinese, "の", right},
		{chat.Chinese, "这款のり是日本产的，口感很好", right},
		{chat.Chinese, "Your order has shipped.", wrong},
		{chat.Chinese, "Your order is on the way.", wrong},
		{chat.Chinese, "Done", wrong},
		{chat.Chinese, "Yes, done!", wrong},
		{chat.Chinese, "ok", right},
		{chat.Chinese, "Okay.", right},
		{chat.Chinese, "15 kg", right},
		{chat.Chinese, "iPhone 15", right},
		{chat.Chinese, "https://shop.example/returns", right},
		{chat.Chinese, "[PHONE_1]", right},
		{chat.Chinese, "299.00", right},
		{chat.Chinese, "SF Express", right},
		{chat.Chinese, "好", right},
		{chat.Chinese, "Ваш заказ уже отправлен и прибудет завтра утром", wrong},
		{chat.English, "Your order has been shipped and arrives tomorrow.", right},
		{chat.English, "您的订单已经发货，预计明天送达。", wrong},
		{chat.English, "您好 Zhang, 您的订单已经发货，预计明天送达，请注意查收。", wrong},
		{chat.English, "The 保温杯 that you asked for is in stock.", right},
		{chat.English, "About “我的订单在哪里呢，为什么还没有到”: it arrives tomorrow, between nine and noon.", right},
		{chat.English, "好的", wrong},
		{chat.English, "OK", right},
		{chat.English, "Hi", right},
		{chat.English, "MH2611280012 已发货", wrong},
		{chat.English, "はい", wrong},
		{chat.English, "Ваш заказ уже отправлен и прибудет завтра утром", wrong},
		{chat.English, "", right},
	} {
		if got := writingOf(c.text, c.language, true); got != c.whole {
			t.Errorf("%s: %q is %d, want %d", c.language, c.text, got, c.whole)
		}
	}
}

// Of a reply as it comes, the verdict is there after some 40 letters, and never before
// enough is known.
func TestWritingIsToldFromTheFirstLetters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, text string
		want           writing
		within         int // letters
	}{
		{chat.Chinese, "您的订单已经发货，预计明天送达。", right, 6},
		{chat.Chinese, "Your order has been shipped and arrives tomorrow morning at nine.", wrong, 60},
		{chat.English, "Your order has been shipped and arrives tomorrow morning at nine.", right, 32},
		{chat.English, "您的订单已经发货，预计明天送达。", wrong, 11},
		{chat.English, "Hi Zhang, 您的订单已经发货，预计明天送达。", wrong, 30},
	} {
		got, n := unclear, 0
		for i, r := range c.text {
			if got = writingOf(c.text[:i], c.language, false); got != unclear || r == '。' {
				break
			}
			n++
		}
		if got != c.want || n > c.within {
			t.Errorf("%s: %q is %d after %d letters, want %d within %d", c.language, c.text, got, n, c.want, c.within)
		}
	}
}

func FuzzWriting(f *testing.F) {
	f.Add("“", "zh")
	f.Add("```a b", "en")
	f.Add("a.\xffb", "zh")
	f.Fuzz(func(t *testing.T, text, language string) {
		if writingOf(text, language, true) == unclear {
			t.Fatalf("%q has ended and is unclear", text)
		}
		if len(text) >= longest && writingOf(text, language, false) == unclear {
			t.Fatalf("%q is held back", text)
		}
	})
}
