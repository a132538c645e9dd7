package mood

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"sluice/internal/chat"
)

// TestMoodsOfMessages holds floors on messages of our own.
func TestMoodsOfMessages(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/messages.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type score struct{ right, found, there int }
	scores := map[string]*score{}
	at := func(key string) *score {
		if scores[key] == nil {
			scores[key] = &score{}
		}
		return scores[key]
	}
	r := New()
	unseen := ""
	for in := bufio.NewScanner(f); in.Scan(); {
		want, text, found := strings.Cut(in.Text(), " ")
		if !found || want == "#" {
			if strings.HasSuffix(text, "unseen") {
				unseen = "unseen "
			}
			continue
		}
		language, got := unseen+chat.Language(text, ""), string(r.Of(text))
		at(language).there++
		at(language+" "+want).there++
		at(language+" "+got).found++
		if got == want {
			at(language).right++
			at(language+" "+want).right++
		} else {
			t.Logf("%s, not %s: %s", got, want, text)
		}
	}
	for _, language := range []string{chat.Chinese, chat.English, "unseen zh", "unseen en"} {
		all := at(language)
		accuracy := float64(all.right) / float64(max(1, all.there))
		t.Logf("%s: accuracy %.3f of %d", language, accuracy, all.there)
		if unseen := strings.HasPrefix(language, "unseen"); !unseen && (all.there < 100 || accuracy < 0.85) {
			t.Errorf("%s: accuracy %.3f of %d, want 0.85", language, accuracy, all.there)
		}
		for _, m := range []chat.Mood{chat.MoodCalm, chat.MoodWorried, chat.MoodAngry, chat.MoodDesperate} {
			s := at(language + " " + string(m))
			t.Logf("%s %s: %d there, precision %.3f, recall %.3f", language, m, s.there, float64(s.right)/float64(max(1, s.found)), float64(s.right)/float64(max(1, s.there)))
		}
	}
}

func TestWhatIsDeniedDoesNotCount(t *testing.T) {
	t.Parallel()
	r := New()
	for text, want := range map[string]chat.Mood{
		"我不是要投诉": chat.MoodCalm, "我要投诉": chat.MoodAngry, "不是很着急": chat.MoodCalm, "没有生气": chat.MoodCalm, "这不是骗人吗": chat.MoodAngry,
		"I'm not angry": chat.MoodCalm, "I am not very angry": chat.MoodCalm, "not a complaint": chat.MoodCalm, "angry, not calm": chat.MoodAngry,
		"ＡＮＧＲＹ": chat.MoodAngry, "the scampi was good": chat.MoodCalm, "": chat.MoodCalm,
		strings.Repeat("我想问一下", 500) + "，求求你们": chat.MoodDesperate,
	} {
		if got := r.Of(text); got != want {
			t.Errorf("%.40q is %s, want %s", text, got, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	r := New()
	for _, s := range []string{"not not a complaint", "不不不投诉吗", "\xff!!", "ANGRY"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		switch m := r.Of(s); m {
		case chat.MoodCalm, chat.MoodWorried, chat.MoodAngry, chat.MoodDesperate:
		default:
			t.Fatalf("%q is %q", s, m)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	r := New()
	for name, text := range map[string]string{
		"zh": "你好，我昨天下的订单MH2611280012到现在还没发货，有点着急，麻烦帮我查一下，谢谢",
		"en": "Hi, my order MH2611280012 from last Friday has not arrived yet and I am worried, could you check please",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r.Of(text)
			}
		})
	}
}
