package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

const usNumber, cnNumber = "+12025550123", "+8613800138000"

func TestANoticeIsDeliveredWhateverTheOrderOfItsReceipts(t *testing.T) {
	for name, doc := range map[string]string{"twilio": twilioRules, "aliyun": aliyunRules} {
		t.Run(name, func(t *testing.T) {
			inTextWorld(t, doc, func(w *textWorld) {
				w.carrier.Behave(sim.TextBehaviour{
					Receipts: []string{"delivered", "sent", "delivered", "undelivered:30003", "lost in space", "sent"},
				})
				id := w.notice("s", cnNumber, chat.Chinese, 10*time.Minute)
				defer w.texter("a").stop()
				time.Sleep(3 * time.Second)
				n := w.want("s", id, chat.NoticeDelivered, chat.PromiseDelivered)
				if w.taken(id) != 1 || n.Tries != 1 || n.Carried == "" || n.Fault != "" || !n.Settled {
					t.Errorf("taken %d times; %+v", w.taken(id), n)
				}
				if body := w.carrier.Texts()[0].Body; !strings.Contains(body, n.Code) || strings.Contains(body, "Later.") {
					t.Errorf("the text is %q", body)
				}
				if requests, receipts := w.carrier.Unsigned(); requests+receipts != 0 {
					t.Errorf("%d requests and %d receipts were refused", requests, receipts)
				}
			})
		})
	}
}

// A time-out after the carrier has taken it, and a carrier that is blind for a while.
func TestATryWithoutAnAnswerIsLookedUpBeforeAnother(t *testing.T) {
	for name, doc := range map[string]string{"twilio": twilioRules, "aliyun": aliyunRules} {
		t.Run(name, func(t *testing.T) {
			inTextWorld(t, doc, func(w *textWorld) {
				defer w.texter("a").stop()
				w.carrier.Behave(sim.TextBehaviour{Lose: true, Blind: true})
				lost := w.notice("s1", cnNumber, chat.English, 10*time.Minute)
				time.Sleep(time.Minute)
				w.want("s1", lost, chat.NoticeUnknown)
				w.carrier.Behave(sim.TextBehaviour{})
				time.Sleep(65 * time.Second)
				w.want("s1", lost, chat.NoticeSent)
				if name == "aliyun" { // the rest is the same for both
					if n := w.taken(lost); n != 1 {
						t.Errorf("%d texts for one promise", n)
					}
					return
				}

				w.carrier.Behave(sim.TextBehaviour{Status: 503, Code: "isp.SYSTEM_ERROR"})
				never := w.notice("s2", cnNumber, chat.English, 10*time.Minute)
				time.Sleep(30 * time.Second)
				w.want("s2", never, chat.NoticeUnknown)
				w.carrier.Behave(sim.TextBehaviour{})
				time.Sleep(75 * time.Second)
				if n := w.want("s2", never, chat.NoticeSent); n.Tries != 2 {
					t.Errorf("%d tries", n.Tries)
				}

				w.carrier.Behave(sim.TextBehaviour{Lose: true, Blind: true})
				dark := w.notice("s3", cnNumber, chat.English, 70*time.Second)
				time.Sleep(80 * time.Second)
				w.want("s3", dark, chat.NoticeUnknown, chat.PromiseBroken)
				for _, id := range []string{lost, never, dark} {
					if n := w.taken(id); n != 1 {
						t.Errorf("%d texts for one promise", n)
					}
				}
			})
		})
	}
}

func TestWhatACarrierRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		code   string
		state  chat.NoticeState
		told   []chat.PromiseStatus
		wanted bool // whether the number may be texted again
	}{
		"a number that has sent STOP": {400, "21610", chat.NoticeFailed, []chat.PromiseStatus{chat.PromiseBroken}, false},
		"a number that is none":       {400, "21211", chat.NoticeFailed, []chat.PromiseStatus{chat.PromiseBroken}, true},
		"too many for now":            {429, "20429", chat.NoticeSent, nil, true},
		"a key that is wrong for now": {401, "20003", chat.NoticeSent, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			inTextWorld(t, twilioRules, func(w *textWorld) {
				defer w.texter("a").stop()
				w.carrier.Behave(sim.TextBehaviour{Status: c.status, Code: c.code})
				id := w.notice("s", usNumber, chat.English, 10*time.Minute)
				time.Sleep(10 * time.Second)
				w.carrier.Behave(sim.TextBehaviour{})
				time.Sleep(2 * time.Minute)
				if n := w.want("s", id, c.state, c.told...); n.State == chat.NoticeFailed && n.Fault != c.code {
					t.Errorf("failed for %q", n.Fault)
				}
				may, err := w.queue.MayText(w.t.Context(), "demo", usNumber, chat.TextCaps{PerNumber: 10, PerTenant: 10}, time.Now())
				if err != nil || may != c.wanted {
					t.Errorf("it may be texted: %v (%v), want %v", may, err, c.wanted)
				}
			})
		})
	}
}

// A receipt says what the answer to the send did not.
func TestAReceiptOfSTOPIsKeptForGood(t *testing.T) {
	inTextWorld(t, twilioRules, func(w *textWorld) {
		defer w.texter("a").stop()
		w.carrier.Behave(sim.TextBehaviour{Receipts: []string{"failed:21610"}})
		first := w.notice("s1", usNumber, chat.English, time.Hour)
		time.Sleep(3 * time.Second)
		w.want("s1", first, chat.NoticeFailed, chat.PromiseBroken)
		second := w.notice("s2", usNumber, chat.English, time.Hour)
		time.Sleep(3 * time.Second)
		if n := w.want("s2", second, chat.NoticeFailed, chat.PromiseBroken); n.Fault != chat.FaultSuppressed || w.taken(second) != 0 {
			t.Errorf("failed for %q, taken %d times", n.Fault, w.taken(second))
		}
	})
}

func TestCapsOutliveTheirSender(t *testing.T) {
	doc := strings.Replace(twilioRules, "from:", "per_number_per_day: 2, per_tenant_per_day: 3, from:", 1)
	inTextWorld(t, doc, func(w *textWorld) {
		send := func(session, phone string, want bool) {
			t.Helper()
			x := w.texter(session)
			defer x.stop()
			id, err := w.promised(session, phone, chat.English, time.Hour)
			if !want {
				if !errors.Is(err, queue.ErrCapped) {
					t.Errorf("%s: promised beyond a cap: %v", session, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			w.want(session, id, chat.NoticeSent)
		}
		may := func(phone string, want bool) {
			t.Helper()
			if got := w.in().textable(w.rules, &chat.Ticket{Tenant: "demo", Phone: phone}, time.Now()); got != want {
				t.Errorf("%s may be promised a text: %v", phone, got)
			}
		}
		send("s1", usNumber, true)
		may(usNumber, true)
		send("s2", usNumber, true)
		may(usNumber, false)
		may(cnNumber, true)
		send("s3", usNumber, false)
		send("s4", cnNumber, true)
		send("s5", cnNumber, false)
		may(cnNumber, false)
		tomorrow := time.Now().Add(24 * time.Hour)
		if may, err := w.queue.MayText(w.t.Context(), "demo", usNumber, chat.TextCaps{PerNumber: 2, PerTenant: 3}, tomorrow); err != nil || !may {
			t.Errorf("not even tomorrow (%v)", err)
		}
	})
}

// Bubbles begin at midnight UTC: 8 in the morning in China, 19:00 in Washington.
func TestQuietHoursAreThoseOfTheNumber(t *testing.T) {
	doc := strings.Replace(twilioRules, "from: ", `quiet_hours: {from: "18:00", until: "19:02"}, from: `, 1) + "lanes: {deferred: {max_wait: 1m}}\n"
	inTextWorld(t, doc, func(w *textWorld) {
		defer w.texter("a").stop()
		day, evening, hopeless := w.notice("s1", cnNumber, chat.English, time.Hour), w.notice("s2", usNumber, chat.English, time.Hour), w.notice("s3", usNumber, chat.English, time.Minute)
		in := w.in()
		for phone, want := range map[string]bool{cnNumber: true, usNumber: false} {
			if got := in.textable(w.rules, &chat.Ticket{Tenant: "demo", Phone: phone}, time.Now()); got != want {
				t.Errorf("%s may be promised a text: %v", phone, got)
			}
		}
		time.Sleep(3 * time.Second)
		w.want("s1", day, chat.NoticeSent)
		w.want("s2", evening, chat.NoticeQueued)
		if n := w.want("s3", hopeless, chat.NoticeFailed, chat.PromiseBroken); n.Fault != chat.FaultQuiet {
			t.Errorf("failed for %q", n.Fault)
		}
		time.Sleep(2*time.Minute - 5*time.Second)
		w.want("s2", evening, chat.NoticeQueued)
		time.Sleep(5 * time.Second)
		w.want("s2", evening, chat.NoticeSent)
	})
}

func TestOnlyTheCarrierIsHeard(t *testing.T) {
	inTextWorld(t, twilioRules, func(w *textWorld) {
		client := w.doors["chat.example:80"].Client()
		defer client.CloseIdleConnections()
		may := func(want bool) {
			t.Helper()
			got, err := w.queue.MayText(w.t.Context(), "demo", usNumber, chat.TextCaps{PerNumber: 10, PerTenant: 10}, time.Now())
			if err != nil || got != want {
				t.Errorf("may be texted: %v (%v), want %v", got, err, want)
			}
		}
		say := func(words string, change func(*http.Request), status int) {
			t.Helper()
			req, err := w.carrier.Inbound(ourAddress+"/v1/sms/twilio/inbound", usNumber, words)
			if err != nil {
				t.Fatal(err)
			}
			if change != nil {
				change(req)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != status {
				t.Errorf("%q is answered %d, want %d", words, resp.StatusCode, status)
			}
		}
		for name, change := range map[string]func(*http.Request){
			"no signature":  func(r *http.Request) { r.Header.Del("X-Twilio-Signature") },
			"another one":   func(r *http.Request) { r.Header.Set("X-Twilio-Signature", "RSOYDt4T1cUTdK1PDd93/VVr8B8=") },
			"another query": func(r *http.Request) { r.URL.RawQuery = "a=b" },
			"another path":  func(r *http.Request) { r.URL.Path = "/v1/sms/twilio/status" },
			"another host": func(r *http.Request) {
				r.Header.Del("X-Twilio-Signature")
				r.Header.Set("X-Forwarded-Host", "chat.example")
			},
			"as JSON": func(r *http.Request) { r.Header.Set("Content-Type", "application/json") },
		} {
			say("STOP", change, http.StatusForbidden)
			if may(true); t.Failed() {
				t.Fatal(name)
			}
		}
		say("I cannot stop", nil, http.StatusOK)
		may(true)
		say(" stop. ", nil, http.StatusOK)
		may(false)
		say("开始", nil, http.StatusOK)
		may(false)
		say("START", nil, http.StatusOK)
		may(true)
		resp, err := client.Post(ourAddress+"/v1/sms/aliyun/status?token=", "application/json", strings.NewReader("[]"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("a secret that is not set lets in: %d", resp.StatusCode)
		}
	})
}
