package intent

import (
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"
)

// shipped returns the classifier of the shipped rules. The document is read without the
// rules package: the two know nothing of each other.
func shipped(t testing.TB) *Classifier {
	t.Helper()
	text, err := os.ReadFile("../rules/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Intents []struct {
			Name     string
			Urgent   bool
			Patterns []string
		}
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var classes []Class
	for _, i := range doc.Intents {
		classes = append(classes, Class{Name: i.Name, Urgent: i.Urgent, Patterns: i.Patterns})
	}
	c, err := New(classes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestShippedPatternsKnowTheEvidentMessages(t *testing.T) {
	t.Parallel()
	c := shipped(t)
	for text, want := range map[string]string{
		"我要投诉你们":                                     "complaint",
		"这不是欺骗消费者吗":                                  "complaint",
		"I want to make a COMPLAINT":                 "complaint",
		"your service is terrible":                   "complaint",
		"我要退款":                                       "refund",
		"我要退款,不然投诉":                                  "refund",
		"退 款 什么时候到账":                                 "refund",
		"把钱退给我":                                      "refund",
		"I want my money back":                       "refund",
		"I want a refund":                            "refund",
		"转人工":                                        "human_agent",
		"有没有人工客服":                                    "human_agent",
		"人工人工人工":                                     "human_agent",
		"轉接真人":                                       "human_agent",
		"can I talk to a human?":                     "human_agent",
		"ＡＧＥＮＴ please":                               "human_agent",
		"我的快递到哪了":                                    "order_track",
		"where is my order":                          "order_track",
		"where’s my parcel":                          "order_track",
		"取消订单":                                       "cancel_order",
		"cancel my order":                            "cancel_order",
		"我想改收货地址":                                    "change_order",
		"change my shipping address":                 "change_order",
		"怎么退货":                                       "return_exchange",
		"I want to return this":                      "return_exchange",
		"怎么开发票":                                      "invoice",
		"I need an invoice":                          "invoice",
		"付款失败了怎么办":                                   "payment",
		"my card was declined":                       "payment",
		"忘记密码了":                                      "account",
		"I can't log in":                             "account",
		"有优惠券吗":                                      "promo",
		"do you have a coupon":                       "promo",
		"运费多少":                                       "delivery_info",
		"do you deliver to Canada":                   "delivery_info",
		"这款能防水吗":                                     "product_info",
		"is it waterproof":                           "product_info",
		"你好":                                         "greeting",
		"Hello there!":                               "greeting",
		"谢谢":                                         "thanks_bye",
		"thank you very much":                        "thanks_bye",
		"今天天气怎么样":                                    "other",
		"tell me a joke":                             "other",
		"":                                           "other",
		"\xff\xfe":                                   "other",
		"不是要投诉,就问问运费多少":                              "delivery_info",
		"不用转人工,我的快递到哪了":                              "order_track",
		"不想退款,想换个大一码":                                "other",
		"this is not a complaint, where is my order": "order_track",
		"I don't need a human, where is my order":    "order_track",
		"no refund needed, where is my parcel":       "order_track",
		"no complaint, do you have a coupon":         "promo",
	} {
		got := c.Classify(text)
		if got.Intent != want && !(want == "other" && !got.Urgent) {
			t.Errorf("%q: %s, want %s", text, got.Intent, want)
		}
		if is := want == "complaint" || want == "refund" || want == "human_agent"; is != got.Urgent {
			t.Errorf("%q: urgent %v", text, got.Urgent)
		}
	}
}

func TestAskingForTheThingIsNoNegation(t *testing.T) {
	t.Parallel()
	c := shipped(t)
	for _, text := range []string{
		"还没退款", "没有人工吗", "不给退款", "能不能退款", "是不是要投诉才有用", "不要机器人,转人工", "不退款我就曝光",
		"no refund yet", "I did not get a refund", "why can't I talk to a human", "I want a refund, not a voucher",
		"this is not a complaint, it is a refund request",
		"不用转人工了? 不, 我要投诉", "not a complaint but I want my money back",
	} {
		if got := c.Classify(text); !got.Urgent {
			t.Errorf("%q: %s is not urgent", text, got.Intent)
		}
	}
}

func TestUrgentClassesComeFirst(t *testing.T) {
	t.Parallel()
	c, err := New([]Class{
		{Name: "first", Patterns: []string{"order"}},
		{Name: "second", Patterns: []string{"parcel", "order"}},
		{Name: "urgent", Urgent: true, Patterns: []string{"angry"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Order": "first", "parcel order": "first", "parcel": "second", "order, and I am ANGRY": "urgent", "none": Other,
	} {
		if got := c.Classify(text); got.Intent != want || got.Unknown != (want == Other) {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
	if _, err := New([]Class{{Name: "bad", Patterns: []string{"("}}}); err == nil || !strings.Contains(err.Error(), "pattern 0 of intent bad") {
		t.Errorf("a broken pattern: %v", err)
	}
	none, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := none.Classify("anything"); got != (Result{Intent: Other, Unknown: true}) {
		t.Errorf("without classes: %+v", got)
	}
}

// TestShortcutsChangeNoAnswer compares with running every pattern on the whole text.
func TestShortcutsChangeNoAnswer(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"退款", "退(款|钱)", "(钱|款)[^,。]{0,4}退", `\brefund(s|ed)?\b`, "^hi", "ok$", "a.?b", "[ab]c+", "x*y", "(?:ab|)c",
		`^ *(hi|yo)[.! ]*$`, "k{2,3}", "[^a]b", "(退|还)?钱", `\Aab|b\z`, "st", "[a-z]{3}c",
	}
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SliceOfN(rapid.SampledFrom(patterns), 1, 5).Draw(t, "patterns")
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"退", "款", "钱", "还", "a", "b", "c", "ab", "refund", "refunds", "hi", "yo", "ok", "x", "y", "k", "K", "ſt", "kk", " ", ",", "。", "\n", "ＡＢ", "é", strings.Repeat("z", 30),
		}), 0, 30).Draw(t, "parts")
		text := strings.Join(parts, "")
		classes := make([]Class, len(chosen))
		for i, p := range chosen {
			classes[i] = Class{Name: p, Urgent: rapid.Bool().Draw(t, "urgent"), Patterns: []string{p}}
		}
		c, err := New(classes)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := c.Classify(text).Intent, slow(c, text); got != want {
			t.Fatalf("%q: %s, want %s", text, got, want)
		}
	})
}

func slow(c *Classifier, text string) string {
	text = fold(text)
	simple, _ := c.simple.simplified(text)
	for _, r := range c.rules {
		for _, form := range []string{text, simple} {
			for _, m := range regexp.MustCompile(r.re.String()).FindAllStringIndex(form, maxLooks) {
				if !r.urgent || !negated(form, m[0], m[1]) {
					return c.classes[r.class].Name
				}
			}
		}
	}
	return Other
}

func TestFoldMakesOneForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ＡＢｃ，！":                  "abc,!",
		"转 人　工":                  "转人工",
		"a  b\tc ":               "a b c ",
		"人 a 工":                  "人 a 工",
		"re\u200bfund \u00adnow": "refund now",
		"don’t":                  "don't",
		"ﬁne É ①":                "fine é 1",
		"e\u0301":                "é",
		"ｶﾞ":                     "ガ",
		"K\u212a":                "kk",
		"转\n人工。":                 "转\n人工。",
		"\xe4\xb8":               "\ufffd\ufffd",
		"\xe8\xbd\xacA":          "转a",
	} {
		if got := fold(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestClassifierServesManyAtOnce(t *testing.T) {
	t.Parallel()
	c := shipped(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got := c.Classify("请问我要退款怎么办"); got.Intent != "refund" {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
	group.Wait()
}

func FuzzClassify(f *testing.F) {
	patterns, model := shipped(f), learnt(f)
	for _, text := range []string{"我要退款", "this is not a complaint", "zhuanrengong", "", "\xff", "轉人工 1234 !!!!", strings.Repeat("退", 600)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []*Classifier{patterns, model} {
			got := c.Classify(text)
			if got.Intent == "" || !(got.Confidence >= 0 && got.Confidence <= 1) {
				t.Errorf("%q: %+v", text, got)
			}
			if got != c.Classify(text) {
				t.Errorf("%q is not always the same", text)
			}
		}
	})
}

// BenchmarkClassify takes usual messages, and the longest: 10,000 characters.
func BenchmarkClassify(b *testing.B) {
	zh := []rune(strings.Repeat("昨天晚上我们一家人在院子里面乘凉，孩子说起学校里的事情，大家都笑了起来。", 300))[:10_000]
	en := strings.Repeat("yesterday evening we sat in the garden and the children told us about their day at school, ", 200)[:10_000]
	traditional := []rune(strings.Repeat("昨天晚上我們一家人在院子裡面乘涼，孩子說起學校裡的事情，大家都笑了起來。", 300))[:10_000]
	for _, by := range []struct {
		name string
		*Classifier
	}{{"patterns", shipped(b)}, {"model", learnt(b)}} {
		for name, text := range map[string]string{
			"zh": string(zh), "en": en, "zh urgent at the end": string(zh[:9_990]) + "所以我要退款", "traditional": string(traditional),
			"short zh": "我的快递到哪了", "short en": "where is my parcel, it was due on monday",
		} {
			b.Run(by.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					by.Classify(text)
				}
			})
		}
	}
}

func BenchmarkTrain(b *testing.B) {
	examples, err := Shipped()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Train(b.Context(), examples, nil); err != nil {
			b.Fatal(err)
		}
	}
}
