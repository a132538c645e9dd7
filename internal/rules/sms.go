package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/chat"
)

// SMS says who carries text messages, and their caps. Keys stand in the environment, never
// here.
type SMS struct {
	Provider        string      `yaml:"provider"`           // outbox, twilio or aliyun. Defaults to outbox.
	PerNumberPerDay int         `yaml:"per_number_per_day"` // at least 1. Defaults to 10.
	PerTenantPerDay int         `yaml:"per_tenant_per_day"` // at least 1. Defaults to 1,000.
	Countries       []string    `yaml:"countries"`          // ISO 3166 codes of two capitals. Defaults to CN and US.
	QuietHours      *QuietHours `yaml:"quiet_hours"`        // nil: none, the default

	AccountEnv string `yaml:"account_env"` // environment variable with Twilio's Account SID, or Aliyun's AccessKey ID
	TokenEnv   string `yaml:"token_env"`   // with Twilio's auth token, or Aliyun's AccessKey Secret
	ReceiptEnv string `yaml:"receipt_env"` // aliyun: with the secret in the address for receipts
	From       string `yaml:"from"`        // twilio: a number in E.164, a short code, or a messaging service (MG…)
	// Signatures and Templates are aliyun's approved ones, by language; "zh" and "en" are
	// required there. The template has the one variable code.
	Signatures map[string]string `yaml:"signatures"`
	Templates  map[string]string `yaml:"templates"`
	URL        string            `yaml:"url"` // of the carrier's interface. Defaults to the carrier's own.
}

// QuietHours is the part of the day in which no text message goes out. It may pass
// midnight. The clock is that of the number's area; Zone is for numbers that tell none.
type QuietHours struct {
	From  string `yaml:"from"`  // "22:00", required
	Until string `yaml:"until"` // "08:00", required
	Zone  string `yaml:"zone"`  // IANA name. Defaults to UTC.
}

// The carriers that a document may name.
const (
	ProviderOutbox = "outbox"
	ProviderTwilio = "twilio"
	ProviderAliyun = "aliyun"
)

func (d *document) checkSMS(s SMS) {
	d.oneOf("sms.provider", s.Provider, ProviderOutbox, ProviderTwilio, ProviderAliyun)
	d.count("sms.per_number_per_day", s.PerNumberPerDay, 1, 0)
	d.count("sms.per_tenant_per_day", s.PerTenantPerDay, 1, 0)
	if len(s.Countries) == 0 {
		d.fault("sms.countries", "must name at least one country")
	}
	for i, c := range s.Countries {
		if at := fmt.Sprintf("sms.countries[%d]", i); !country.MatchString(c) {
			d.fault(at, "must be a country code of two capitals such as CN, is %s", quote(c))
		} else if slices.Contains(s.Countries[:i], c) {
			d.fault(at, "must not repeat %s", quote(c))
		}
	}
	d.checkQuietHours(s.QuietHours)
	d.checkCarrier(s)
}

func (d *document) checkQuietHours(q *QuietHours) {
	if q == nil {
		return
	}
	d.checkClock("sms.quiet_hours.from", q.From)
	d.checkClock("sms.quiet_hours.until", q.Until)
	if q.From == q.Until && q.From != "" {
		d.fault("sms.quiet_hours.until", "must differ from sms.quiet_hours.from; null means no quiet hours")
	}
	if _, err := time.LoadLocation(q.Zone); err != nil || q.Zone == "" || q.Zone == "Local" {
		d.fault("sms.quiet_hours.zone", "must be an IANA time zone such as Asia/Shanghai, is %s", quote(q.Zone))
	}
}

// checkCarrier wants of a carrier's account what it cannot do without.
func (d *document) checkCarrier(s SMS) {
	for _, v := range []struct{ path, name string }{
		{"sms.account_env", s.AccountEnv}, {"sms.token_env", s.TokenEnv}, {"sms.receipt_env", s.ReceiptEnv},
	} {
		if v.name != "" && !variable.MatchString(v.name) { // may be a key put in by mistake
			d.fault(v.path, "must be the name of an environment variable, not a key")
		}
	}
	if s.URL != "" {
		d.checkURL("sms.url", s.URL)
	}
	if s.Provider != ProviderTwilio && s.Provider != ProviderAliyun {
		return
	}
	d.needed("sms.account_env", s.AccountEnv, s.Provider)
	d.needed("sms.token_env", s.TokenEnv, s.Provider)
	if s.Provider == ProviderTwilio {
		d.needed("sms.from", s.From, s.Provider)
		return
	}
	d.needed("sms.receipt_env", s.ReceiptEnv, s.Provider)
	for _, lang := range []string{chat.Chinese, chat.English} {
		d.needed("sms.signatures."+lang, s.Signatures[lang], s.Provider)
		d.needed("sms.templates."+lang, s.Templates[lang], s.Provider)
	}
}

func (d *document) needed(path, value, provider string) {
	if strings.TrimSpace(value) == "" {
		d.fault(path, "must be given: sms.provider is %s", provider)
	}
}
