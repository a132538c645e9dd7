package rules

import (
	"slices"
	"testing"
	"time"
)

func TestAlertsAreRead(t *testing.T) {
	t.Parallel()
	r, err := Parse("r.yaml", []byte(`
alerts:
  permits_busy: {above: 0.7}
  off: [level_high]
  repeat: 1h
  webhooks:
    - {kind: dingtalk, url_env: DING_URL, secret_env: DING_SECRET, lang: zh}
    - {kind: slack, url: "https://hooks.example/T1"}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultAlerts()
	want.PermitsBusy.Above, want.Off, want.Repeat = 0.7, []string{"level_high"}, time.Hour
	want.Webhooks = []AlertWebhook{
		{Kind: AlertDingTalk, URLEnv: "DING_URL", SecretEnv: "DING_SECRET", Lang: "zh"},
		{Kind: AlertSlack, URL: "https://hooks.example/T1", Lang: "en"},
	}
	if got := r.Alerts; !slices.Equal(got.Webhooks, want.Webhooks) || !slices.Equal(got.Off, want.Off) || got.Repeat != want.Repeat || got.PermitsBusy != want.PermitsBusy || got.PermitsSpent != want.PermitsSpent {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestFaultsOfAlertsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string][]string{
		"alerts: {level: 4}":       {"r.yaml:1:10: alerts.level: must be at most 3, is 4"},
		"alerts: {wait: 0}":        {"r.yaml:1:10: alerts.wait: must be above 0 and at most 100, is 0"},
		"alerts: {repeat: 10s}":    {"r.yaml:1:10: alerts.repeat: must be at least 1m0s, is 10s"},
		"alerts: {off: [levl]}":    {"r.yaml:1:16: alerts.off[0]: must be one of permits_busy, permits_spent, refusals, breaker_open, level_high, wait_long, promise_broken, dead_letter, node_lost, recorder_lag, is \"levl\""},
		"alerts: {webhooks: [{}]}": {"r.yaml:1:21: alerts.webhooks[0].kind: must be one of generic, slack, dingtalk, feishu, wecom, is \"\"", "r.yaml:1:21: alerts.webhooks[0]: must have either url or url_env"},
		"alerts: {webhooks: [{kind: generic, url: \"https://a.example/\"}]}":         {"r.yaml:1:21: alerts.webhooks[0].secret_env: must be given: what is generic is always signed"},
		"alerts: {webhooks: [{kind: wecom, url_env: \"https://x\", secret_env: S}]}": {"r.yaml:1:35: alerts.webhooks[0].url_env: must be the name of an environment variable, not what it holds", "r.yaml:1:57: alerts.webhooks[0].secret_env: must be left out: wecom knows no signature"},
		"alerts: {webhooks: [{kind: slack, url_env: A}, {kind: slack, url_env: A}]}": {"r.yaml:1:48: alerts.webhooks[1]: must not repeat another webhook"},
		"alerts: {webhooks: [{kind: slack, url: \"ftp://a.example\"}]}":              {"r.yaml:1:35: alerts.webhooks[0].url: must be an http or https URL without a user name, of at most 2048 bytes"},
		"alerts: {permits_spent: {above: 1.5, for: 2h}}":                             {"r.yaml:1:26: alerts.permits_spent.above: must be above 0 and at most 1, is 1.5", "r.yaml:1:38: alerts.permits_spent.for: must be at most 1h0m0s, is 2h0m0s"},
	} {
		_, err := Parse("r.yaml", []byte(doc))
		var got []string
		for _, f := range Faults(err) {
			got = append(got, f.Error())
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", doc, got, want)
		}
	}
}
