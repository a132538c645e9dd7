package entity

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/chat"
)

func TestValuesArePlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"订单号ｍｈ２６１１２８００１２":           "order MH2611280012",
		"手机 １３８　００１３　８０００":          "phone 13800138000",
		"\u202d138 0013 8000\u202c": "phone 13800138000",
		"+86（138）0013－8000":         "phone +8613800138000",
		"退我五千三百二十元":                 "amount 5320",
		"两块五":                       "amount 2.5",
		"三万块":                       "amount 30000",
		"1,299.50元":                 "amount 1299.50",
		"２０２６年１１月５日":                "date 2026-11-05",
		"二月三号":                      "date 02-03",
		"28th of November, 2026":    "date 2026-11-28",
		"WANG＠163．com":              "mail wang@163.com",
		"id 11010519491231002x":     "paper 11010519491231002X",
	} {
		found := Scan(text)
		if len(found) != 1 || string(found[0].Kind)+" "+found[0].Value != want {
			t.Errorf("%q: %+v, want %q", text, found, want)
		}
	}
}

func TestChecksTellCardsAndPapersFromOtherNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"4111111111111111": true, "4111111111111112": false, "110101199003077758": true, "110105194913310021": false,
		"order 4111111111111111": false, "order 4111 1111 1111 1111": true, "订单号4111111111111111": false,
	} {
		found := Scan(text)
		if got := len(found) == 1 && (found[0].Kind == Card || found[0].Kind == Paper); got != want {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

func TestTicketsCarryFewEntitiesAndNoneThatProveAPerson(t *testing.T) {
	t.Parallel()
	if got := Find("card 4111 1111 1111 1111, ID 11010519491231002X"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := Find(strings.Repeat("order 123456, ", 30)); len(got) != most {
		t.Errorf("%d entities", len(got))
	}
	long := "订单MH2611280012" + strings.Repeat("我等了很久", 400) + "订单MH2611280099" + strings.Repeat("我等了很久", 400) + "电话13800138000"
	got := Find(long)
	if len(got) != 2 || got[0].Value != "MH2611280012" || long[got[1].Start:got[1].End] != "13800138000" {
		t.Errorf("of a long text %+v", got)
	}
}

func TestTheSameTextNamesTheSameByEitherWidth(t *testing.T) {
	t.Parallel()
	wide := func(r rune) rune {
		if r >= '!' && r <= '~' {
			return r - '!' + '\uff01'
		}
		return r
	}
	for _, l := range labelled(t) {
		values := func(text string) (all []string) {
			for _, e := range Scan(text) {
				all = append(all, string(e.Kind)+" "+e.Value)
			}
			return all
		}
		if a, b := values(l.text), values(strings.Map(wide, l.text)); !reflect.DeepEqual(a, b) {
			t.Errorf("%q: %q, in full width %q", l.text, a, b)
		}
	}
}

func valid(t *testing.T, text string, found []chat.Entity) {
	t.Helper()
	before := 0
	for _, e := range found {
		if e.Start < before || e.End <= e.Start || e.End > len(text) {
			t.Fatalf("%q: span %d to %d after %d", text, e.Start, e.End, before)
		}
		if e.Start < len(text) && !utf8.RuneStart(text[e.Start]) || e.End < len(text) && !utf8.RuneStart(text[e.End]) {
			t.Fatalf("%q: span %d to %d cuts a character", text, e.Start, e.End)
		}
		if e.Kind == "" || e.Value == "" {
			t.Fatalf("%q: %+v", text, e)
		}
		before = e.End
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"订单MH2611280012，电话１３８-0013-8000", "a@b.cn 50.00元", "+(1", "二〇二六年十一月", "28th", "2026-11-", "\xe4\xb8", "￥1", "0", "11010519491231002X"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			Scan(text) // no panic
			return
		}
		valid(t, text, Scan(text))
		valid(t, text, Find(text))
	})
}

func BenchmarkFind(b *testing.B) {
	for name, text := range map[string]string{
		"zh": "你好，我昨天下的订单MH2611280012到现在还没发货，手机13800138000，麻烦帮我查一下，谢谢",
		"en": "Hi, my order MH2611280012 from last Friday has not arrived yet, please call me at 415-555-2671, I paid $59.90 for it",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Find(text)
			}
		})
	}
}

// BenchmarkWorst reads 10,000 characters of what is meant to take long.
func BenchmarkWorst(b *testing.B) {
	for _, piece := range []string{"1", "1 ", "12 34 ", "1-2.3 ", "a.b_c-", "a@", "a1-", "+1", "(1", "订单1234 ", "一二三", "上个星期", "４１１１ ", "4111 1111 1111 1111 "} {
		text := strings.Repeat(piece, 1+10_000/utf8.RuneCountInString(piece))
		b.Run(piece, func(b *testing.B) {
			for b.Loop() {
				Scan(text)
			}
		})
	}
}

func TestEveryWordThatIsLookedForIsMarked(t *testing.T) {
	t.Parallel()
	var all []string
	for head := range hanCues {
		all = append(all, head)
	}
	for head := range relatives {
		all = append(all, head)
	}
	for r := rune(0x4e00); r <= 0x9fff; r++ {
		if d, weight := numeralOf(r); d >= 0 || weight > 0 {
			all = append(all, string(r))
		}
	}
	for _, head := range all {
		if !marked(head, 0) {
			t.Errorf("%s is not marked", head)
		}
	}
}
