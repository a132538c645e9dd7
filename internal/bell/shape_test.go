package bell

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"sluice/internal/alert"
	"sluice/internal/hook"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// TestSignaturesOfTheRooms holds values that another program has computed: openssl dgst
// -sha256 -mac HMAC.
func TestSignaturesOfTheRooms(t *testing.T) {
	t.Parallel()
	signed, err := dingTalkURL("https://oapi.dingtalk.example/robot/send?access_token=T", "SECf00d", noon)
	u, bad := url.Parse(signed)
	if err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	if q := u.Query(); q.Get("access_token") != "T" || q.Get("timestamp") != "1780315200000" || q.Get("sign") != "xZn9aou2Zs/WQMIGWCsvf9+cmAf9RkrekqvuvDUtqv0=" {
		t.Errorf("DingTalk: %s", signed)
	}
	if stamp, sign := feishuSign("SECf00d", noon); stamp != "1780315200" || sign != "MBmGgSLQxy738Av9HfAF99x8GJ/PGfgtDkCVO3OLB3E=" {
		t.Errorf("Feishu: %s %s", stamp, sign)
	}
	// The one value that DingTalk's documents print is of this MAC over the timestamp alone.
	if got := mac("testappSecret", "1546084445901"); got != "HCbG3xNE3vzhO+u7qCUL1jS5hsu2n5r2cFhnTrtyDAE=" {
		t.Errorf("DingTalk's documents: %s", got)
	}
}

// room is a real receiver that keeps what it gets and answers what it is told to.
type room struct {
	*httptest.Server
	query  url.Values
	header http.Header
	body   []byte
	status int
	answer string
}

func open(t *testing.T) *room {
	t.Helper()
	r := &room{status: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.query, r.header = req.URL.Query(), req.Header
		r.body, _ = io.ReadAll(req.Body)
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, r.answer)
	}))
	t.Cleanup(r.Close)
	return r
}

func sender(t *testing.T, private bool) *hook.Sender {
	t.Helper()
	s, err := hook.NewSender(hook.Config{Private: func() bool { return private }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func sample() alert.Send {
	return alert.Send{
		ID: "msg_1", At: noon,
		Firing: []alert.Alert{
			{Key: "breaker_open:a", Name: alert.BreakerOpen, Severity: alert.Critical, Target: "a", Since: noon.Add(-time.Second)},
			{Key: "level_high", Name: alert.LevelHigh, Severity: alert.Warning, Value: 3, Threshold: 2, Since: noon.Add(-5 * time.Hour)},
		},
		Ended: []alert.Alert{{Key: "node_lost:h", Name: alert.NodeLost, Severity: alert.Critical, Target: "<h>*@all", EndedAt: noon}},
	}
}

const link = "https://sluice.example/admin#alerts"

// TestEachRoomGetsItsShape sends the same over real HTTP, in both languages, and reads what
// came as the room does.
func TestEachRoomGetsItsShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind Kind
		lang alert.Lang
		path []any  // of the text
		want string // it
	}{
		{Slack, alert.English, []any{"text"}, "Sluice: 2 alerts, all clear: process lost\n" +
			"• [critical] the breaker of a is open\n  Look at the state of the vendor or tool itself; the breaker closes by itself once it is well, or by hand.\n" +
			"• [warning] the load level is 3 (threshold 2), since 2026-06-01 07:00 UTC\n  See its cause in the overview; lower rungs answer meanwhile. Slow or failing vendors and full lanes raise it.\n" +
			"• [all clear] process -h---all is gone without a goodbye\n<https://sluice.example/admin#alerts|Open the alerts>"},
		{DingTalk, alert.Chinese, []any{"markdown", "text"}, "#### Sluice：2 条告警，已恢复：进程丢失\n\n" +
			"- [严重] a 的熔断器已断开\n\n  查看供应商或工具自身的状态；恢复后熔断器会自行闭合，也可手动闭合。\n\n" +
			"- [警告] 负载级别为 3（阈值 2），始于 2026-06-01 07:00 UTC\n\n  在概览中查看原因；此时部分问题由较低层级回答。供应商变慢、出错或通道积压都会升级。\n\n" +
			"- [已恢复] 进程 -h---all 未告别即消失\n\n[打开告警页](https://sluice.example/admin#alerts)"},
		{WeCom, alert.Chinese, []any{"markdown", "content"}, "#### Sluice：2 条告警，已恢复：进程丢失\n" +
			"> [严重] a 的熔断器已断开\n  查看供应商或工具自身的状态；恢复后熔断器会自行闭合，也可手动闭合。\n" +
			"> [警告] 负载级别为 3（阈值 2），始于 2026-06-01 07:00 UTC\n  在概览中查看原因；此时部分问题由较低层级回答。供应商变慢、出错或通道积压都会升级。\n" +
			"> [已恢复] 进程 -h---all 未告别即消失\n[打开告警页](https://sluice.example/admin#alerts)"},
		{Feishu, alert.English, []any{"content", "post", "en_us", "title"}, "Sluice: 2 alerts, all clear: process lost"},
		{Feishu, alert.Chinese, []any{"content", "post", "zh_cn", "content", 0, 0, "text"}, "• [严重] a 的熔断器已断开"},
		{Feishu, alert.Chinese, []any{"content", "post", "zh_cn", "content", 5, 0, "href"}, link},
		{Generic, alert.English, []any{"data", "firing", 0, "summary"}, "the breaker of a is open"},
		{Generic, alert.English, []any{"data", "ended", 0, "ended_at"}, "2026-06-01T12:00:00Z"},
	} {
		r := open(t)
		h := Hook{ID: "h", Kind: c.kind, URL: r.URL + "/x?access_token=T", Lang: c.lang, Secret: secret}
		if fault, _ := h.send(t.Context(), sender(t, true), sample(), link, noon); fault != "" {
			t.Errorf("%s: %s", c.kind, fault)
			continue
		}
		if got := at(t, r.body, c.path); got != c.want {
			t.Errorf("%s: %v is\n%s\nwant\n%s", c.kind, c.path, got, c.want)
		}
		signed := map[Kind]bool{DingTalk: r.query.Get("sign") != "", Feishu: strings.Contains(string(r.body), `"sign"`)}
		for kind, is := range signed {
			if is != (kind == c.kind) {
				t.Errorf("%s: signed as %s is: %t", c.kind, kind, is)
			}
		}
		if c.kind == Generic {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err == nil {
				err = verifier.VerifyIgnoringTimestamp(r.body, r.header)
			}
			if err != nil || r.header.Get("webhook-id") != "msg_1" {
				t.Errorf("%v, id %s", err, r.header.Get("webhook-id"))
			}
		}
	}
}

// at finds a text in JSON.
func at(t *testing.T, body []byte, path []any) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	for _, step := range path {
		switch key := step.(type) {
		case string:
			in, _ := v.(map[string]any)
			v = in[key]
		case int:
			in, _ := v.([]any)
			if key >= len(in) {
				return "nothing"
			}
			v = in[key]
		}
	}
	text, _ := v.(string)
	return text
}

// TestARefusalIsOneWhateverItsStatus: rooms say no with status 200, too.
func TestARefusalIsOneWhateverItsStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   Kind
		status int
		answer string
		fault  string
	}{
		{DingTalk, 200, `{"errcode":0,"errmsg":"ok"}`, ""},
		{DingTalk, 200, `{"errcode":310000,"errmsg":"sign not match"}`, "refused with the code 310000"},
		{WeCom, 200, `{"errcode":93000,"errmsg":"invalid webhook url"}`, "refused with the code 93000"},
		{Feishu, 200, `{"code":19021,"msg":"sign match fail"}`, "refused with the code 19021"},
		{Feishu, 200, `{"StatusCode":0,"code":0,"data":{}}`, ""},
		{Slack, 200, `ok`, ""},
		{Slack, 404, `no_service`, "answered 404"},
		{Generic, 204, ``, ""},
		{Generic, 302, ``, "answered 302"},
	} {
		r := open(t)
		r.status, r.answer = c.status, c.answer
		h := Hook{Kind: c.kind, URL: r.URL, Secret: secret, Lang: alert.English}
		if fault, _ := h.send(t.Context(), sender(t, true), sample(), "", noon); fault != c.fault {
			t.Errorf("%s, %d %s: %q, want %q", c.kind, c.status, c.answer, fault, c.fault)
		}
	}
	r := open(t)
	h := Hook{Kind: Slack, URL: r.URL, Lang: alert.English}
	if fault, _ := h.send(t.Context(), sender(t, false), sample(), "", noon); fault != hook.ErrPrivate.Error() || r.body != nil {
		t.Errorf("an address inside: %q", fault)
	}
	h.Fault = "the environment variable X is not set"
	if fault, _ := h.send(context.Background(), sender(t, true), sample(), "", noon); fault != h.Fault {
		t.Errorf("without a URL: %q", fault)
	}
}

// TestAFloodFitsIntoAMessage of each room.
func TestAFloodFitsIntoAMessage(t *testing.T) {
	t.Parallel()
	m := alert.Send{ID: "msg_1", At: noon}
	for range alert.MaxListed {
		m.Firing = append(m.Firing, alert.Alert{Name: alert.NodeLost, Severity: alert.Critical, Target: strings.Repeat("机", 200), Since: noon})
	}
	for _, lang := range []alert.Lang{alert.Chinese, alert.English} {
		r := open(t)
		h := Hook{Kind: WeCom, URL: r.URL, Lang: lang}
		if fault, _ := h.send(t.Context(), sender(t, true), m, link, noon); fault != "" {
			t.Fatal(fault)
		}
		got := at(t, r.body, []any{"markdown", "content"})
		if len(got) > 4096 || len(got) < 3900 || !utf8.ValidString(got) || !strings.HasSuffix(got, "("+link+")") {
			t.Errorf("%d bytes: …%s", len(got), got[len(got)-100:])
		}
	}
	m.More = 180
	if got := textOf(m, alert.English); len(got.firing) != alert.MaxListed || got.more != "180 more" {
		t.Errorf("%d lines, %s", len(got.firing), got.more)
	}
}
