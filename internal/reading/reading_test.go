package reading

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"sluice/internal/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAllPartsOfAMessage(t *testing.T) {
	t.Parallel()
	r := New()
	got := r.Read("气死我了，订单MH2611280012还没到", "en")
	if len(got.Entities) != 1 || got.Entities[0].Value != "MH2611280012" || got.Mood != chat.MoodAngry || got.Language != chat.Chinese || r.Lost() != 0 {
		t.Errorf("%+v, %d lost", got, r.Lost())
	}
	if got := r.Read("12345", ""); got.Language != "" || got.Mood != chat.MoodCalm {
		t.Errorf("%+v", got)
	}
}

func say(language string) part {
	return func(string, string) func(*chat.Reading) { return func(r *chat.Reading) { r.Language = language } }
}

func TestAPartThatPanicsLosesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	r := &Reader{parts: []part{
		func(string, string) func(*chat.Reading) { panic("of a customer's text") },
		say(chat.English),
	}}
	if got := r.Read("x", ""); got.Language != chat.English || r.Lost() != 1 {
		t.Errorf("%+v, %d lost", got, r.Lost())
	}
}

func TestAPartThatTakesTooLongIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		r := &Reader{parts: []part{
			say(chat.English),
			func(string, string) func(*chat.Reading) {
				<-end
				return func(r *chat.Reading) { r.Mood = chat.MoodAngry }
			},
		}}
		if got := r.Read("x", ""); got.Language != chat.English || got.Mood != "" || r.Lost() != 1 {
			t.Errorf("%+v, %d lost", got, r.Lost())
		}
		for range mostParts + 10 {
			r.Read("x", "")
		}
		if n := r.underWay.Load(); n > mostParts {
			t.Errorf("%d parts under way", n)
		}
		close(end)
		synctest.Wait()
		if n := r.underWay.Load(); n != 0 {
			t.Errorf("%d parts under way at the end", n)
		}
		if got := r.Read("x", ""); got.Mood != chat.MoodAngry {
			t.Errorf("%+v: it does not recover", got)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r := New()
	for b.Loop() {
		r.Read("你好，我昨天下的订单MH2611280012到现在还没发货，有点着急，手机13800138000，麻烦帮我查一下，谢谢", "")
	}
}
