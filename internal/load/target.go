package load

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// ErrRemote says that a target is not on this machine and that this was not allowed.
var ErrRemote = errors.New("not a loopback address; load on other machines must be allowed explicitly")

// Target is the instance under load and what is known of its vendors.
type Target struct {
	BaseURL string   // of the instance, such as "http://127.0.0.1:8080"
	Keys    []string // one secret key per tenant; tickets are dealt to them in turn

	// Control is the base URL of the simulator's control port. Its statistics and
	// behaviours are reset when a run begins. Empty: vendors are not measured.
	Control string

	Limits map[string]int // permits per vendor
	Quotas map[string]int // contracted calls per vendor; left out: as the simulator says
}

// Validate names the first field that is wrong. Hosts must be "localhost" or a loopback
// address unless remote is set; other names are not resolved.
func (t Target) Validate(remote bool) error {
	if err := checkURL("base URL", t.BaseURL, remote); err != nil {
		return err
	}
	if t.Control != "" {
		if err := checkURL("control", t.Control, remote); err != nil {
			return err
		}
	}
	if len(t.Keys) == 0 {
		return errors.New("keys: at least one tenant's key is needed")
	}
	for i, key := range t.Keys {
		if key == "" {
			return fmt.Errorf("keys: number %d is empty", i+1)
		}
	}
	for name, of := range map[string]map[string]int{"limits": t.Limits, "quotas": t.Quotas} {
		for vendor, n := range of {
			if n < 0 {
				return fmt.Errorf("%s: %s has %d, must not be negative", name, vendor, n)
			}
		}
	}
	return nil
}

func checkURL(field, raw string, remote bool) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("%s %q: must be an absolute http or https URL", field, raw)
	}
	if remote || loopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%s: host %q: %w", field, u.Hostname(), ErrRemote)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
