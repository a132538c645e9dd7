package rules

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice/internal/chat"
)

// Alerts says what is wrong enough to tell, and whom.
type Alerts struct {
	PermitsBusy  AlertShare    `yaml:"permits_busy"`  // of a vendor's limit. Defaults to 0.8 for 1m.
	PermitsSpent AlertShare    `yaml:"permits_spent"` // the same. Defaults to 0.95 for 30s.
	Refusals     int           `yaml:"refusals"`      // more messages refused in 5 minutes, at least 0. Defaults to 100.
	Level        int           `yaml:"level"`         // at least, 1 to 3. Defaults to 2.
	Wait         float64       `yaml:"wait"`          // more than so many times max_wait, above 0 and at most 100. Defaults to 1.
	RecorderLag  time.Duration `yaml:"recorder_lag"`  // more, at least 1s. Defaults to 1m.
	// Lasts is how long something that happens at one moment (a broken promise, a dead
	// letter, a lost process) is told as wrong, at least 1m. Defaults to 10m.
	Lasts time.Duration `yaml:"lasts"`
	Off   []string      `yaml:"off"` // names of alerts that are not wanted. Defaults to none.
	// Repeat is after how long what still fires is told again, at least 1m. Defaults to 4h.
	Repeat time.Duration `yaml:"repeat"`
	// AllowPrivate lets messages go to addresses inside. Defaults to false.
	AllowPrivate bool           `yaml:"allow_private"`
	Webhooks     []AlertWebhook `yaml:"webhooks"` // at most 10. Defaults to none.
}

// AlertShare is a part of a whole that must not be exceeded for so long.
type AlertShare struct {
	Above float64       `yaml:"above"` // above 0 and at most 1
	For   time.Duration `yaml:"for"`   // at least 0s
}

// AlertWebhook is one place that alerts are told to.
type AlertWebhook struct {
	Kind string `yaml:"kind"` // generic, slack, dingtalk, feishu or wecom. Required.
	URL  string `yaml:"url"`  // either this
	// URLEnv is the environment variable with the URL: that of a chat room is a secret.
	URLEnv    string `yaml:"url_env"`
	SecretEnv string `yaml:"secret_env"` // environment variable with what signs; generic: required; slack, wecom: none
	Lang      string `yaml:"lang"`       // zh or en. Defaults to en.
}

// The shapes of an alert.
const (
	AlertGeneric  = "generic"
	AlertSlack    = "slack"
	AlertDingTalk = "dingtalk"
	AlertFeishu   = "feishu"
	AlertWeCom    = "wecom"
)

// AlertNames are the alerts that there are.
func AlertNames() []string {
	return []string{
		"permits_busy", "permits_spent", "refusals", "breaker_open", "level_high", "wait_long", "promise_broken", "dead_letter",
		"node_lost", "recorder_lag",
	}
}

const maxAlertWebhooks = 10

// DefaultAlerts returns what holds where a document says nothing.
func DefaultAlerts() Alerts {
	return Alerts{
		PermitsBusy: AlertShare{0.8, minute}, PermitsSpent: AlertShare{0.95, 30 * time.Second},
		Refusals: 100, Level: 2, Wait: 1, RecorderLag: minute, Lasts: 10 * minute, Off: []string{}, Repeat: 4 * hour, Webhooks: []AlertWebhook{},
	}
}

func (d *document) checkAlerts(a Alerts) {
	for path, s := range map[string]AlertShare{"alerts.permits_busy": a.PermitsBusy, "alerts.permits_spent": a.PermitsSpent} {
		d.ratio(path+".above", s.Above)
		d.span(path+".for", s.For, 0, hour)
	}
	d.count("alerts.refusals", a.Refusals, 0, 0)
	d.count("alerts.level", a.Level, 1, 3)
	if a.Wait <= 0 || a.Wait > 100 {
		d.fault("alerts.wait", "must be above 0 and at most 100, is %v", a.Wait)
	}
	d.span("alerts.recorder_lag", a.RecorderLag, time.Second, 0)
	d.span("alerts.lasts", a.Lasts, minute, day)
	d.span("alerts.repeat", a.Repeat, minute, 0)
	for i, name := range a.Off {
		d.oneOf(fmt.Sprintf("alerts.off[%d]", i), name, AlertNames()...)
	}
	if len(a.Webhooks) > maxAlertWebhooks {
		d.fault("alerts.webhooks", "must hold at most %d, holds %d", maxAlertWebhooks, len(a.Webhooks))
	}
	for i, w := range a.Webhooks {
		d.checkAlertWebhook(fmt.Sprintf("alerts.webhooks[%d]", i), w, a.Webhooks[:i])
	}
}

func (d *document) checkAlertWebhook(path string, w AlertWebhook, before []AlertWebhook) {
	d.oneOf(path+".kind", w.Kind, AlertGeneric, AlertSlack, AlertDingTalk, AlertFeishu, AlertWeCom)
	d.oneOf(path+".lang", w.Lang, chat.Chinese, chat.English)
	for _, v := range []struct{ key, name string }{{".url_env", w.URLEnv}, {".secret_env", w.SecretEnv}} {
		if v.name != "" && !variable.MatchString(v.name) { // may be a secret put in by mistake
			d.fault(path+v.key, "must be the name of an environment variable, not what it holds")
		}
	}
	if (w.URL == "") == (w.URLEnv == "") {
		d.fault(path, "must have either url or url_env")
	}
	if w.URL != "" && !isWebhookURL(w.URL) {
		d.fault(path+".url", "must be an http or https URL without a user name, of at most %d bytes", maxEndpoint)
	}
	switch {
	case w.Kind == AlertGeneric && strings.TrimSpace(w.SecretEnv) == "":
		d.fault(path+".secret_env", "must be given: what is generic is always signed")
	case (w.Kind == AlertSlack || w.Kind == AlertWeCom) && w.SecretEnv != "":
		d.fault(path+".secret_env", "must be left out: %s knows no signature", w.Kind)
	}
	if slices.Contains(before, w) {
		d.fault(path, "must not repeat another webhook")
	}
}

func isWebhookURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && len(text) <= maxEndpoint
}
