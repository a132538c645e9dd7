package chat

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCheckMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want string // what the detail says; empty: nothing is wrong
	}{
		"one character":              {"?", ""},
		"Chinese":                    {"我的订单在哪里？", ""},
		"tab and newline":            {"a\tb\nc", ""},
		"white space around":         {" \n hello \n ", ""},
		"joined emoji":               {"👩‍👩‍👧‍👦", ""},
		"right to left":              {"שלום", ""},
		"10,000 of one byte":         {strings.Repeat("x", MaxMessage), ""},
		"10,000 of four bytes":       {strings.Repeat("😀", MaxMessage), ""},
		"10,001 of one byte":         {strings.Repeat("x", MaxMessage+1), "at most 10000 characters, has 10001"},
		"10,001 of four bytes":       {strings.Repeat("😀", MaxMessage+1), "at most 10000 characters, has 10001"},
		"10,000 and a newline":       {strings.Repeat("x", MaxMessage) + "\n", "at most 10000 characters, has 10001"},
		"empty":                      {"", "not white space"},
		"spaces":                     {"   ", "not white space"},
		"ideographic and hard space": {"\u3000\u00a0\u2003", "not white space"},
		"next line":                  {"\u0085", "not white space"},
		"very much white space":      {strings.Repeat("\n", 3*MaxMessage), "not white space"},
		"NUL":                        {"a\x00b", "U+0000 (byte 1)"},
		"carriage return":            {"a\r\nb", "U+000D (byte 1)"},
		"escape":                     {"订\x1b[31m", "U+001B (byte 3)"},
		"delete":                     {"a\x7f", "U+007F"},
		"C1":                         {"a\u009bb", "U+009B"},
		"cut off":                    {"订单"[:4], "valid UTF-8"},
		"a lone byte":                {"a\xffb", "valid UTF-8"},
		"half a surrogate pair":      {"a\xed\xa0\x80", "valid UTF-8"},
		"overlong":                   {"\xc0\xafetc", "valid UTF-8"},
	} {
		err := CheckMessage("message", c.text)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var bad *Error
		if !errors.As(err, &bad) || bad.Kind != Invalid || bad.Code != "invalid" || bad.Field != "message" || !strings.Contains(bad.Detail, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzCheckMessage(f *testing.F) {
	for _, s := range []string{"", "hello", "我的订单", " \t\n", "a\x00b", "\xff", "\u0085", "a\u200b", strings.Repeat("😀", 101)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		err := CheckMessage("message", s)
		if err == nil {
			if !utf8.ValidString(s) || utf8.RuneCountInString(s) > MaxMessage {
				t.Fatalf("%q is let through", s)
			}
			seen := false
			for _, r := range s {
				seen = seen || !unicode.IsSpace(r)
				if unicode.IsControl(r) && r != '\t' && r != '\n' {
					t.Fatalf("%q holds a control character", s)
				}
			}
			if !seen {
				t.Fatalf("%q is white space only", s)
			}
			return
		}
		if KindOf(err) != Invalid {
			t.Fatalf("%q: kind %d", s, KindOf(err))
		}
		if text := strings.TrimSpace(s); len(text) > 30 && strings.Contains(err.Error(), text) {
			t.Fatalf("the error repeats %q", s)
		}
	})
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, locale, want string }{
		{"我的订单在哪里", "", Chinese},
		{"我的订单在哪里", "en-US", Chinese},
		{"where is my order", "", English},
		{"where is my order", "zh-CN", English},
		{"iPhone 壳到哪了", "en", Chinese},
		{"12345", "zh-CN", Chinese},
		{"12345", "ZH", Chinese},
		{"12345", "zh-Hant-TW", Chinese},
		{"12345", "en-GB", English},
		{"12345", "", English},
		{"???", "fr", English},
		{"😀", "zh", Chinese},
		{"где заказ", "zh", English},
		{"", "", English},
		{"where is 我的 parcel", "", Chinese},
		{"please幫我 check 一下", "", Chinese},
		{"我的訂單在哪裡", "", Chinese},
		{"My 保温杯 arrived broken yesterday and I want a new one", "", English},
		{"注文はまだ届きません", "", English},
		{"MH2611280012", "zh-CN", Chinese},
		{"SF1234567890123 ok?", "zh", Chinese},
		{"ＭＨ２６１１２８００１２", "zh", Chinese},
		{"12345", "zh_TW", Chinese},
		{"12345", "yue", Chinese},
		{"don't", "zh", English},
		{"ça va", "", English},
		{"zhuan ren gong", "", Chinese},
		{"zhuanrengong", "en", Chinese},
		{"Zhuan ren gong", "", Chinese},
		{"wo de kuai di dao na li le", "", Chinese},
		{"wo de kuaidi dao nali le", "", Chinese},
		{"bu yao tui kuan", "", Chinese},
		{"tuikuan", "", Chinese},
		{"wo yao tuikuan MH2611280012", "", Chinese},
		{"change", "zh", English},
		{"guarantee", "zh", English},
		{"Xiaomi", "zh", English},
		{"can he make me one", "zh", English},
		{"same size", "zh", English},
		{"banana cake", "zh", English},
		{"like a long line", "zh", English},
		{"take the bus to Beijing", "zh", English},
		{"I want to change my name", "zh", English},
		{"Huawei or Xiaomi", "zh", English},
		{"iPhone case please", "zh", English},
	} {
		if got := Language(c.text, c.locale); got != c.want {
			t.Errorf("language of %q with locale %q = %s, want %s", c.text, c.locale, got, c.want)
		}
	}
}

func TestSpokenIsEmptyWhereNobodySays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "12345", "MH2611280012", "😀👍", "???", "ok", "OK!", "+86 138", "SF1234567890", "iPhone 15", "iPhone 15 Pro Max", "MacBook"} {
		if got := Spoken(text, ""); got != "" {
			t.Errorf("%q is spoken in %s", text, got)
		}
	}
	for text, want := range map[string]string{"hi": English, "好": Chinese, "где": English} {
		if got := Spoken(text, ""); got != want {
			t.Errorf("%q is spoken in %q, want %s", text, got, want)
		}
	}
}
