package rules

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"time"
)

var (
	vendorName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	wordName   = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`) // of models and intents
	variable   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

func (d *document) checkVendors(vendors []Vendor) {
	if len(vendors) == 0 {
		d.fault("vendors", "must hold at least one vendor")
	}
	for i, v := range vendors {
		path := fmt.Sprintf("vendors[%d]", i)
		if !vendorName.MatchString(v.Name) {
			d.fault(path+".name", "must be 1 to 32 of a-z 0-9 -, is %s", quote(v.Name))
		} else if j := slices.Index(names(vendors[:i]), v.Name); j >= 0 {
			d.fault(path+".name", "must be unique, vendors[%d] is %s too", j, quote(v.Name))
		}
		d.oneOf(path+".kind", v.Kind, KindOpenAI, KindAnthropic, KindOllama)
		d.checkEndpoints(path+".endpoints", v.Endpoints)
		d.checkQuota(path, v)
		d.checkModels(path+".models", v)
		d.checkTimeouts(path+".timeouts", v.Timeouts)
		d.checkBreaker(path+".breaker", v.Breaker)
	}
}

func (d *document) checkEndpoints(path string, endpoints []Endpoint) {
	if len(endpoints) == 0 {
		d.fault(path, "must hold at least one endpoint")
	}
	for i, e := range endpoints {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.checkURL(at+".url", e.URL)
		// What stands here may be a key put in by mistake: it is not repeated.
		if e.KeyEnv != "" && !variable.MatchString(e.KeyEnv) {
			d.fault(at+".key_env", "must be the name of an environment variable, not a key")
		}
		d.count(at+".weight", e.Weight, 1, 1000)
	}
}

// checkURL does not repeat an address that may hold a password.
func (d *document) checkURL(path, s string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https"):
		d.fault(path, "must be an address that begins with http:// or https://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		d.fault(path, "must have no user, query or fragment; the key belongs into the variable of key_env")
	}
}

func (d *document) checkQuota(path string, v Vendor) {
	d.count(path+".quota", v.Quota, 1, 0)
	d.ratio(path+".headroom", v.Headroom)
	if v.Elastic < 0 || v.Elastic >= 1 {
		d.fault(path+".elastic", "must be at least 0 and below 1, is %v", v.Elastic)
	}
	d.count(path+".qps", v.QPS, 0, 0)
	d.count(path+".tokens_per_minute", v.TokensPerMinute, 0, 0)
	d.count(path+".retry.attempts", v.Retry.Attempts, 1, 10)
	if v.Retry.Permits < 0 || v.Retry.Permits > 1 {
		d.fault(path+".retry.permits", "must be 0 to 1, is %v", v.Retry.Permits)
	}
}

func (d *document) checkModels(path string, v Vendor) {
	if len(v.Models) == 0 {
		d.fault(path, "must name at least one model")
	}
	for word, m := range v.Models {
		at := path + "." + word
		if !wordName.MatchString(word) {
			d.fault(fmt.Sprintf("%s.%.40q", path, word), "must be named with 1 to 32 of a-z 0-9 _ -")
			continue
		}
		if n := len(m.Name); n == 0 || n > 128 {
			d.fault(at+".name", "must be the vendor's name of the model, 1 to 128 bytes, has %d", n)
		}
		if d.count(at+".permits", m.Permits, 0, 0); m.Permits > v.Limit() && v.Quota > 0 {
			d.fault(at+".permits", "must be at most the account's limit, which is %d, is %d", v.Limit(), m.Permits)
		}
	}
}

func (d *document) checkTimeouts(path string, t Timeouts) {
	d.span(path+".connect", t.Connect, time.Nanosecond, 0)
	d.span(path+".first_token", t.FirstToken, time.Nanosecond, 0)
	d.span(path+".gap", t.Gap, time.Nanosecond, 0)
	d.span(path+".call", t.Call, time.Nanosecond, 0)
	d.span(path+".stream", t.Stream, time.Nanosecond, 0)
	d.span(path+".release_after_cancel", t.ReleaseAfterCancel, time.Nanosecond, 500*time.Millisecond)
}

func (d *document) checkBreaker(path string, b Breaker) {
	d.span(path+".window", b.Window, time.Second, 0)
	d.count(path+".min_calls", b.MinCalls, 1, 0)
	d.ratio(path+".failures", b.Failures)
	d.ratio(path+".slow", b.Slow)
	d.span(path+".slow_after", b.SlowAfter, time.Nanosecond, 0)
	d.span(path+".cooldown", b.Cooldown, time.Nanosecond, 0)
	d.count(path+".probes", b.Probes, 1, 0)
}

func (d *document) checkChains(r *Rules) {
	if len(r.Vendors) == 0 {
		return // told already
	}
	for name, c := range r.Chains {
		path := "chains." + name
		d.count(path+".max_steps", c.MaxSteps, 1, 50)
		if len(c.Vendors) == 0 {
			d.fault(path+".vendors", "must name at least one vendor")
		}
		for i, v := range c.Vendors {
			at := fmt.Sprintf("%s.vendors[%d]", path, i)
			j := slices.Index(names(r.Vendors), v)
			switch {
			case j < 0:
				d.fault(at, "must be the name of a vendor, is %s", quote(v))
			case slices.Contains(c.Vendors[:i], v):
				d.fault(at, "must not repeat %s", quote(v))
			default:
				d.checkModel(name, j, r.Vendors[j], c.Model)
			}
		}
	}
}

// checkModel complains where the model is named: in the chain, or else at the vendor.
func (d *document) checkModel(chain string, i int, v Vendor, model string) {
	if _, ok := v.Models[model]; ok {
		return
	}
	path := "chains." + chain + ".model"
	if _, given := d.at[path]; given {
		d.fault(path, "must be a model of each of its vendors, %s has no %s", v.Name, quote(model))
		return
	}
	d.fault(fmt.Sprintf("vendors[%d].models.%s", i, model), "must be given: chain %s uses it", chain)
}
