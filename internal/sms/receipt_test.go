package sms

import (
	"net/url"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
)

func TestTheWordsThatStop(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Wish{
		"STOP": WishStop, "stop": WishStop, " Stop. ": WishStop, "StopAll": WishStop, "unsubscribe": WishStop, "END": WishStop, "quit!": WishStop,
		"revoke": WishStop, "OPT-OUT": WishStop, "cancel": WishStop, "退订": WishStop, "退订。": WishStop, "td": WishStop, "ＴＤ": WishStop, "T": WishStop,
		"START": WishStart, "start": WishStart, "unstop": WishStart,
		"": WishNone, "please stop": WishNone, "stop it": WishNone, "我要退订单": WishNone, "?": WishNone,
	} {
		if got := WishOf(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// Whatever carriers say, in whatever order, and however often: an end stays.
func TestReceiptsInAnyOrderLeadToOneEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := chat.Notice{ID: "n", State: rapid.SampledFrom([]chat.NoticeState{chat.NoticeQueued, chat.NoticeSending, chat.NoticeUnknown}).Draw(t, "state")}
		now := time.Unix(0, 0)
		var end chat.NoticeState
		for range rapid.IntRange(1, 40).Draw(t, "receipts") {
			form := url.Values{
				"MessageStatus": {rapid.SampledFrom([]string{"queued", "sent", "delivered", "undelivered", "failed", "read", "", "odd"}).Draw(t, "status")},
				"MessageSid":    {rapid.SampledFrom([]string{"SM1", "SM1", "SM2", ""}).Draw(t, "sid")},
				"ErrorCode":     {rapid.SampledFrom([]string{"", "30003"}).Draw(t, "code")},
			}
			before := n.State
			n.Hear(TwilioReport("n", form).Receipt, now)
			if again := n; again.Hear(TwilioReport("n", form).Receipt, now) {
				t.Fatalf("a receipt that is doubled changes %+v", n)
			}
			if end != "" && n.State != end || before == chat.NoticeSent && n.State != chat.NoticeSent && !n.State.Ended() || len(n.Receipts) > 16 {
				t.Fatalf("%s became %s: %+v", before, n.State, n)
			}
			if n.State.Ended() {
				end = n.State
			}
		}
	})
}

func FuzzAliyunReports(f *testing.F) {
	f.Add([]byte(`[{"phone_number":"13800138000","success":true,"err_code":"DELIVERED","biz_id":"1","out_id":"t_1","sms_size":"1"}]`))
	f.Add([]byte(`[{"success":false,"err_code":"MOBILE_IN_BLACK"}]`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		all, err := AliyunReports(body)
		for _, r := range all {
			if err != nil || !r.State.Ended() || r.OptOut && r.State != chat.NoticeFailed {
				t.Fatalf("%v: %+v", err, r)
			}
		}
	})
}

func TestQuietHoursEnd(t *testing.T) {
	t.Parallel()
	night := &Quiet{From: 22 * time.Hour, Until: 8 * time.Hour, Zone: time.UTC}
	noon := &Quiet{From: 12 * time.Hour, Until: 14 * time.Hour, Zone: time.UTC}
	for name, c := range map[string]struct {
		quiet   *Quiet
		phone   string
		at, end string // UTC
	}{
		"none":                        {nil, "+8613800138000", "2026-01-10T16:00:00Z", "2026-01-10T16:00:00Z"},
		"midnight in China":           {night, "+8613800138000", "2026-01-10T16:00:00Z", "2026-01-11T00:00:00Z"},
		"before midnight in China":    {night, "+8613800138000", "2026-01-10T14:00:00Z", "2026-01-11T00:00:00Z"},
		"a day in China":              {night, "+8613800138000", "2026-01-10T00:00:00Z", "2026-01-10T00:00:00Z"},
		"by a clock that changes":     {night, "+12025550123", "2026-03-08T05:00:00Z", "2026-03-08T12:00:00Z"},
		"a number that tells nothing": {noon, "+80012345678", "2026-01-10T12:30:00Z", "2026-01-10T14:00:00Z"},
		"noon, in none of its zones":  {noon, "+8613800138000", "2026-01-10T12:30:00Z", "2026-01-10T12:30:00Z"},
	} {
		at, _ := time.Parse(time.RFC3339, c.at)
		if got := c.quiet.End(c.phone, at).UTC().Format(time.RFC3339); got != c.end {
			t.Errorf("%s: until %s, want %s", name, got, c.end)
		}
	}
}
