package mask

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// canaries are data of persons in the formats that customers write.
var canaries = []string{
	"13800138000", "138 0013 8000", "138-0013-8000", "+8613800138000", "+86 138 0013 8000", "86-13800138000", "（+86）13800138000", "１３８００１３８０００",
	"010-62345678", "(021) 5888 1234", "0755-23456789", "0571 8765 4321", "+852 9123 4567", "415-555-2671", "(415) 555-2671", "+1 415 555 2671", "+44 20 7946 0958", "020 7946 0958",
	"11010519491231002X", "11010519491231002x", "110101199003077758", "110101 19900307 7758", "１１０１０５１９４９１２３１００２Ｘ", "110105491231002", "123-45-6789",
	"6228480402564890018", "6228 4804 0256 4890 018", "4111111111111111", "4111-1111-1111-1111", "5500 0000 0000 0004", "378282246310005", "４１１１　１１１１　１１１１　１１１１",
	"zhang.san@example.com", "Li_Si-88@mail.example.cn", "billing+eu@my-company.co.uk", "wang＠163.com", "13800138000@139.com",
	"一三八零零一三八零零零", "幺三八〇〇幺三八〇〇〇", "١٣٨٠٠١٣٨٠٠٠", "۱۳۸۰۰۱۳۸۰۰۰", "138/0013/8000", "张三@例子.公司", "ivan@пример.рф", "zhang@例子.中国",
	"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "gb82west12345698765432",
}

// frames are sentences around them.
var frames = []string{
	"%s", "我的是%s，麻烦联系我", "请打%s。", "it is %s, thanks", "(%s)", `{"contact":"%s","name":"周"}`, "订单MH2611280012的收件人：%s", "for order MH2611280012 use %s please", "a\n%s\nb", "手机/卡/邮箱:%s!",
}

func TestWhatTellsOfAPersonIsHiddenAndPutBack(t *testing.T) {
	t.Parallel()
	for _, canary := range canaries {
		for _, frame := range frames {
			text := fmt.Sprintf(frame, canary)
			b := New()
			hidden := b.Hide(text, true)
			if strings.Contains(hidden, canary) || !strings.Contains(hidden, "_1]") {
				t.Errorf("%q is sent as %q", text, hidden)
			}
			if strings.Contains(text, "MH2611280012") && !strings.Contains(hidden, "MH2611280012") {
				t.Errorf("%q is sent as %q: tools need the order", text, hidden)
			}
			if got := b.Show(hidden); got != text {
				t.Errorf("%q comes back as %q", text, got)
			}
		}
	}
}

func TestPhonesAreToldByWhatIsSaidOfThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"4155550132 is my number":          "[PHONE_1] is my number",
		"my number is 4155550132":          "my number is [PHONE_1]",
		"My number: 4155550132":            "My number: [PHONE_1]",
		"abc13800138000def":                "abc[PHONE_1]def",
		"my number is 20261128001234":      "my number is 20261128001234",
		"my order number is 4155550132":    "my order number is 4155550132",
		"order 4155550132 is my number":    "order 4155550132 is my number",
		"订单DE8937040044，运单YT1234567890123": "订单DE8937040044，运单YT1234567890123",
		"DE89370400440532013001":           "DE89370400440532013001",
		"一二三四五六七八九十一":                      "一二三四五六七八九十一", "二零二六年一月": "二零二六年一月", "@例子 公司": "@例子 公司",
	} {
		if got := New().Hide(text, true); got != want {
			t.Errorf("%q is sent as %q, want %q", text, got, want)
		}
	}
}

func TestWhatIsNoPersonsStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"订单MH2611280012，运单SF1234567890123，2026-11-28 10:00，299.00元", "order 4111111111111111", "call 400-820-8820 or 1-800-555-0199", "1 2 3 4 5 6 7 8 9 10",
		`{"order":"MH2611280012","paid":658.00,"at":"2026-11-28T10:00:00Z","tracking":"773012345678901"}`, "Arr[0] and [PHONE] and [note_1]", "",
	} {
		if got := New().Hide(text, false); got != text {
			t.Errorf("%q is sent as %q", text, got)
		}
	}
}

func TestTheSameThingHasOnePlaceholder(t *testing.T) {
	t.Parallel()
	b := New()
	got := b.Hide("13800138000 or 138 0013 8000, not 13900139000; a@b.cn", true) + b.Hide("13900139000", false)
	if want := "[PHONE_1] or [PHONE_1], not [PHONE_2]; [MAIL_1][PHONE_2]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := b.Reveal(`{"phone":"[PHONE_2]","mail":"[MAIL_1]","x":"[PHONE_9]"}`), `{"phone":"13900139000","mail":"a@b.cn","x":"[PHONE_9]"}`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOthersDataIsNotPutBack(t *testing.T) {
	t.Parallel()
	b := New()
	b.Hide(`{"courier":"13911112222","customer":"13800138000"}`, false)
	b.Hide("我的手机是138 0013 8000", true)
	if got, want := b.Show("[PHONE_1], [PHONE_2], [PHONE_3]"), foreign+", 138 0013 8000, [PHONE_3]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := b.Reveal("[PHONE_1]"); got != "13911112222" {
		t.Errorf("a tool gets %q", got)
	}
}

// A customer who writes a placeholder gets those very letters, whatever it would stand for.
func TestAPlaceholderInATextReadsNothing(t *testing.T) {
	t.Parallel()
	b := New()
	attack := "what is [PHONE_1] and [PHONE_2] and [TEXT_1]?"
	tool := b.Hide(`{"courier":"13911112222"}`, false)
	sent := b.Hide(attack, true)
	if strings.Contains(sent, tool[len(`{"courier":"`):len(tool)-2]) {
		t.Fatalf("%q is sent as %q beside %q", attack, sent, tool)
	}
	if got := b.Show(sent); got != attack {
		t.Errorf("%q comes back as %q", attack, got)
	}
	if got := b.Reveal(sent); got != attack {
		t.Errorf("a tool gets %q", got)
	}
}

func TestABookHasAnEnd(t *testing.T) {
	t.Parallel()
	b := New()
	var text strings.Builder
	for i := range most + 5 {
		fmt.Fprintf(&text, "user%d@example.com ", i)
	}
	hidden := b.Hide(text.String(), true)
	if strings.Contains(hidden, "@") || strings.Count(hidden, overflow) != 5 || len(b.hidden) != most {
		t.Errorf("%d placeholders, %d overflow", len(b.hidden), strings.Count(hidden, overflow))
	}
}

// However a text is broken into pieces, the customer reads what the whole would show.
func TestAStreamShowsWhatTheWholeShows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := New()
		b.Hide("13800138000 4111111111111111 a@b.cn", true)
		b.Hide("13911112222", false)
		bits := rapid.SliceOf(rapid.SampledFrom([]string{"[PHONE_1]", "[PHONE_2]", "[CARD_1]", "[MAIL_1]", "[PHONE_7]", "[", "[PH", "[PHONE_", "]", "1", "您好", "[[PHONE_1]]", "[x](http://y)", "_"})).Draw(t, "bits")
		text := strings.Join(bits, "")
		var got strings.Builder
		s := b.Stream(func(text string) { got.WriteString(text) })
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			s.Write(rest[:n])
			rest = rest[n:]
			if len(s.held) >= maxName {
				t.Fatalf("%q is held back", s.held)
			}
		}
		s.Close()
		if want := b.Show(text); got.String() != want {
			t.Fatalf("%q streams as %q, want %q", text, got.String(), want)
		}
	})
}

func FuzzHide(f *testing.F) {
	for _, c := range canaries {
		f.Add("x "+c+" [PHONE_1] y", c)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		b := New()
		hidden := b.Hide(one, true) + "\n" + b.Hide(two, false)
		times := map[string]int{}
		for _, text := range []string{one, two} {
			for _, e := range personal(text) {
				times[text[e.Start:e.End]]++
			}
		}
		for text, n := range times {
			if was := strings.Count(one, text) + strings.Count(two, text); len(text) >= maxName && strings.Count(hidden, text) > was-n {
				t.Fatalf("%q and %q are sent as %q, which holds %q", one, two, hidden, text)
			}
		}
		b.Show(hidden)
		b.Reveal(hidden)
	})
}

// BenchmarkHide reads 1,000 characters.
func BenchmarkHide(b *testing.B) {
	for name, piece := range map[string]string{
		"zh":     "你好，我昨天下的订单MH2611280012到现在还没发货，手机13800138000，麻烦帮我查一下，谢谢。",
		"en":     "Hi, my order MH2611280012 from last Friday has not arrived, please call me at 415-555-2671. ",
		"plain":  "The knowledge of the shop says that parcels arrive within two to four days after dispatch. ",
		"result": `{"order":"MH2611280012","state":"shipped","paid":658.00,"at":"2026-11-28T10:00:00Z"},`,
	} {
		text := string([]rune(strings.Repeat(piece, 30))[:1000])
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				New().Hide(text, true)
			}
		})
	}
}
