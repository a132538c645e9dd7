package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
	"sluice/internal/reading"
	"sluice/internal/sim"
)

// canaries are data of persons as customers write them, in sentences that make the
// simulated model quote them.
var canaries = []struct{ data, message string }{
	{"13800138000", "我的手机是13800138000，退款呢"},
	{"138 0013 8000", "请打138 0013 8000，快递呢"},
	{"１３８００１３８０００", "电话１３８００１３８０００，发票呢"},
	{"+86 139-1234-5678", "联系方式+86 139-1234-5678"},
	{"0755-23456789", "座机0755-23456789，订单呢"},
	{"11010519491231002X", "身份证11010519491231002X，账号登录不了"},
	{"110101 19900307 7758", "证件号110101 19900307 7758"},
	{"6228 4804 0256 4890 018", "卡号6228 4804 0256 4890 018，扣了两次"},
	{"zhang.san@example.com", "发票发到zhang.san@example.com"},
	{"wang＠163.com", "邮箱wang＠163.com，密码忘了"},
	{"415-555-2671", "Please call 415-555-2671 about my refund"},
	{"(415) 555-2671", "My phone is (415) 555-2671, where is my parcel"},
	{"+44 20 7946 0958", "reach me on +44 20 7946 0958"},
	{"4111-1111-1111-1111", "card 4111-1111-1111-1111 was charged twice"},
	{"378282246310005", "I paid with amex 378282246310005"},
	{"jane_88@mail.example", "send the invoice to jane_88@mail.example"},
	{"123-45-6789", "my SSN is 123-45-6789"},
	{"E12345678", "passport E12345678, change my account"},
}

// journal keeps what a process logs.
type journal struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.all.Write(p)
}

// Through the whole line, with tools and a session that remembers: nothing that tells of
// a person reaches a vendor or a log, and its owner reads it in the reply.
func TestNothingOfAPersonReachesAVendorOrALog(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), swift)
		logs := &journal{}
		w.log = zerolog.New(logs)
		l := w.live()
		reader, order := reading.New(), w.shop.Own("c010", "paid")
		quoted := 0
		for i, c := range canaries {
			session := fmt.Sprintf("s%d", i/3) // some find others' words of the same session in their history
			for _, text := range []string{c.message, c.message + " " + order, "还有别的吗"} {
				ticket := w.ask(session, text, chat.Normal, time.Minute)
				r := reader.Read(text, "")
				ticket.Entities, ticket.Mood = r.Entities, r.Mood
				got := l.until(10*time.Minute, l.accept(by("c010", ticket)).ID)[0]
				if got.Route == chat.RouteAgent && strings.Contains(got.Reply.Text, c.data) {
					quoted++
				}
				if strings.Contains(got.Reply.Text, "_1]") || strings.Contains(got.Reply.Text, "●") {
					t.Errorf("%q is answered %q", text, got.Reply.Text)
				}
			}
		}
		for _, v := range w.vendors { // failures are logged
			if err := v.SetBehaviour(sim.Behaviour{ErrorShare: 1}); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range canaries[:3] {
			l.until(10*time.Minute, l.accept(w.ask(fmt.Sprintf("f%d", i), c.message, chat.Normal, time.Minute)).ID)
		}
		if quoted < len(canaries) {
			t.Errorf("%d replies hold what their customer wrote", quoted)
		}
		prompts := 0
		for _, v := range w.vendors {
			for _, p := range v.Prompts() {
				prompts++
				sent, err := json.Marshal(p)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range canaries {
					if strings.Contains(string(sent), c.data) {
						t.Errorf("a vendor was sent %q: %s", c.data, sent)
					}
				}
			}
		}
		l.stop()
		written := logs.all.String()
		if prompts < 3*len(canaries) || !strings.Contains(written, "the chain could not answer") {
			t.Errorf("%d prompts, %d bytes of logs", prompts, len(written))
		}
		for _, c := range canaries {
			if strings.Contains(written, c.data) {
				t.Errorf("the logs hold %q", c.data)
			}
		}
		w.close()
	})
}
