package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/api"
	"sluice/internal/chat"
	"sluice/internal/rules"
	"sluice/internal/sms"
	"sluice/worker"
)

// twilioReceipts is where Twilio sends receipts, below our public address.
const twilioReceipts = "/v1/sms/twilio/status"

// carriers makes of the rules in force who carries text messages, and how. The zero value
// keeps everything in the outbox. It is safe for concurrent use once its fields stand.
type carriers struct {
	getenv    func(string) string
	publicURL string
	transport *http.Transport
	log       zerolog.Logger

	mu  sync.Mutex // guards the rest
	of  *rules.Rules
	now worker.Texting
}

// texting returns how text messages go out by the rules. They are never changed, so what
// was made of them stays good for as long as they are in force.
func (c *carriers) texting(r *rules.Rules) worker.Texting {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == r {
		return c.now
	}
	carrier, err := c.carrier(r.SMS)
	if err != nil {
		c.log.Error().Err(err).Str("provider", r.SMS.Provider).Msg("no text messages can be sent, and none are promised")
	}
	c.of, c.now = r, worker.Texting{
		Carrier: carrier, Countries: r.SMS.Countries, Quiet: quiet(r.SMS.QuietHours),
		Caps: chat.TextCaps{PerNumber: r.SMS.PerNumberPerDay, PerTenant: r.SMS.PerTenantPerDay},
	}
	return c.now
}

// errLongLink says that the address in a text would make it too long.
var errLongLink = errors.New("SLUICE_PUBLIC_URL is too long for a text message")

func (c *carriers) carrier(s rules.SMS) (worker.Carrier, error) {
	if !sms.Fits(c.publicURL) {
		return nil, errLongLink
	}
	switch s.Provider {
	case rules.ProviderTwilio:
		callback := ""
		if c.publicURL != "" {
			callback = strings.TrimSuffix(c.publicURL, "/") + twilioReceipts
		}
		carrier, err := sms.NewTwilio(sms.TwilioConfig{
			Account: c.secret(s.AccountEnv), Token: c.secret(s.TokenEnv), From: s.From, Base: s.URL,
			Link: c.publicURL, Callback: callback, Transport: c.transport,
		})
		if err != nil {
			return nil, err // a nil pointer would be a carrier
		}
		return carrier, nil
	case rules.ProviderAliyun:
		carrier, err := sms.NewAliyun(sms.AliyunConfig{
			Key: c.secret(s.AccountEnv), Secret: c.secret(s.TokenEnv), Signs: s.Signatures, Templates: s.Templates,
			Base: s.URL, Transport: c.transport,
		})
		if err != nil {
			return nil, err
		}
		return carrier, nil
	}
	return sms.Outbox{Link: c.publicURL}, nil
}

func (c *carriers) secret(name string) string {
	if name == "" || c.getenv == nil {
		return ""
	}
	return c.getenv(name)
}

// keys returns what requests of the carrier that the rules name are known by.
func (c *carriers) keys(r *rules.Rules) api.TextKeys {
	switch r.SMS.Provider {
	case rules.ProviderTwilio:
		return api.TextKeys{TwilioToken: c.secret(r.SMS.TokenEnv)}
	case rules.ProviderAliyun:
		return api.TextKeys{AliyunSecret: c.secret(r.SMS.ReceiptEnv)}
	}
	return api.TextKeys{}
}

// quiet returns the quiet hours of checked rules.
func quiet(q *rules.QuietHours) *sms.Quiet {
	if q == nil {
		return nil
	}
	from, errFrom := sms.Clock(q.From)
	until, errUntil := sms.Clock(q.Until)
	zone, errZone := time.LoadLocation(q.Zone)
	if errors.Join(errFrom, errUntil, errZone) != nil {
		return nil // rules that are checked hold none such
	}
	return &sms.Quiet{From: from, Until: until, Zone: zone}
}

// reachCarrier asks the carrier that the rules name about a number that nobody has: the
// cheapest call that shows that both the address and the keys are good.
func reachCarrier(ctx context.Context, r *rules.Rules) error {
	transport := sms.NewTransport(nil)
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	c := carriers{getenv: os.Getenv, transport: transport}
	carrier, err := c.carrier(r.SMS)
	if err != nil {
		return fmt.Errorf("sms: %w (are the variables that the rules name set?)", err)
	}
	if r.SMS.Provider == rules.ProviderAliyun && c.secret(r.SMS.ReceiptEnv) == "" {
		return fmt.Errorf("sms: environment variable %s is not set", r.SMS.ReceiptEnv)
	}
	if _, err := carrier.Find(ctx, &chat.Notice{Phone: nobodysNumber, AskedAt: time.Now()}); err != nil {
		return fmt.Errorf("sms: %s", oneLine(err))
	}
	return nil
}

// nobodysNumber is of the range that is kept for stories.
const nobodysNumber = "+12025550100"
