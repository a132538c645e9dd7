package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // so that every process judges the name of a zone alike

	"sluice/internal/chat"
)

// check judges the rules as a whole.
func (d *document) check(r *Rules) {
	for _, name := range chat.Lanes() {
		d.checkLane("lanes."+string(name), name, r.Lanes[name])
	}
	d.checkIntake(r.Intake)
	d.checkTenants(r.Tenants)
	d.checkVendors(r.Vendors)
	d.checkChains(r)
	d.checkTools(r.Tools)
	d.checkValve(r.Valve)
	d.checkIntents(r.Intents)
	d.checkKnowledge(r)
	d.checkCache(r.Cache)
	d.checkSMS(r.SMS)
	d.checkSockets(r.Sockets)
	d.checkWebhooks(r.Webhooks)
	d.checkAlerts(r.Alerts)
	d.span("retention.tickets", r.Retention.Tickets, hour, 0)
	d.span("retention.events", r.Retention.Events, hour, 0)
	d.count("max_deliver", r.MaxDeliver, 1, 100)
	if r.Replicas != 1 && r.Replicas != 3 && r.Replicas != 5 {
		d.fault("replicas", "must be 1, 3 or 5, is %d", r.Replicas)
	}
}

func (d *document) checkLane(path string, name chat.Lane, l Lane) {
	d.count(path+".bound", l.Bound, 1, 0)
	d.span(path+".max_wait", l.MaxWait, time.Second, 0)
	d.ratio(path+".share", l.Share)
	if name != chat.High || l.Age != 0 { // nothing stands above high
		d.span(path+".age", l.Age, time.Second, 0)
	}
}

func (d *document) checkIntake(in Intake) {
	d.count("intake.tenant.qps", in.Tenant.QPS, 1, 0)
	d.count("intake.tenant.burst", in.Tenant.Burst, 1, 0)
	d.count("intake.tenant.user_tokens_per_minute", in.Tenant.UserTokensPerMinute, 0, 0)
	d.ratio("intake.tighten.at", in.Tighten.At)
	d.ratio("intake.tighten.until", in.Tighten.Until)
	d.ratio("intake.tighten.factor", in.Tighten.Factor)
	if in.Tighten.Until > in.Tighten.At {
		d.fault("intake.tighten.until", "must be at most intake.tighten.at, which is %v, is %v", in.Tighten.At, in.Tighten.Until)
	}
}

func (d *document) checkCache(c Cache) {
	d.span("cache.answers", c.Answers, 0, 0)
	d.span("cache.jitter", c.Jitter, 0, 0)
	d.span("cache.retrieval", c.Retrieval, 0, 0)
	d.span("cache.prompts", c.Prompts, 0, 0)
	d.span("cache.tools", c.Tools, 0, 0)
	d.span("cache.session", c.Session, 0, 0)
}

var (
	country = regexp.MustCompile(`^[A-Z]{2}$`)
	clock   = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)
)

func (d *document) checkClock(path, s string) {
	if !clock.MatchString(s) {
		d.fault(path, "must be a time of day such as \"22:00\", is %s", quote(s))
	}
}

// count wants lo to hi; hi 0 is no limit but maxCount.
func (d *document) count(path string, n, lo, hi int) {
	if n < lo {
		d.fault(path, "must be at least %d, is %d", lo, n)
	} else if hi > 0 && n > hi {
		d.fault(path, "must be at most %d, is %d", hi, n)
	}
}

// span wants lo to hi; hi 0 is no limit, lo 1ns means "above 0".
func (d *document) span(path string, s, lo, hi time.Duration) {
	switch {
	case lo == time.Nanosecond && s < lo:
		d.fault(path, "must be above 0s, is %s", s)
	case s < lo:
		d.fault(path, "must be at least %s, is %s", lo, s)
	case hi > 0 && s > hi:
		d.fault(path, "must be at most %s, is %s", hi, s)
	}
}

// ratio wants a part of a whole that is not nothing.
func (d *document) ratio(path string, f float64) {
	if f <= 0 || f > 1 {
		d.fault(path, "must be above 0 and at most 1, is %v", f)
	}
}

func (d *document) oneOf(path, s string, known ...string) {
	if !slices.Contains(known, s) {
		d.fault(path, "must be one of %s, is %s", strings.Join(known, ", "), quote(s))
	}
}
