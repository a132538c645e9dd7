package sim

import (
	"fmt"
	"regexp"
)

// DefaultControlAddr is where `sluice sim` and the embedded default put the control port.
const DefaultControlAddr = "127.0.0.1:9190"

var vendorName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Config describes one simulated vendor.
type Config struct {
	// Name tells vendors apart, in statistics and in the control port's paths: 1 to 32
	// characters of a-z, 0-9 and "-". Required.
	Name string

	// Addr is the TCP address that Listen binds. Defaults to "127.0.0.1:0", any free port.
	Addr string

	// More are further TCP addresses that lead to the same vendor: endpoints of one account, which count towards one
	// quota and one set of statistics.
	More []string

	// Quota is the contracted number of concurrent calls; a call above it is refused with
	// 429 and Retry-After. 0 is no quota.
	Quota int

	// Key is the bearer token that calls must carry. Empty accepts any, or none.
	Key string

	// Behaviour is how the vendor behaves at first and after a reset.
	Behaviour Behaviour

	// Seed makes the draws of latencies and faults repeatable: the same calls, one after
	// the other, meet the same fate.
	Seed uint64

	// Record keeps the newest prompts, see Vendor.Prompts. Off by default, because prompts
	// hold what customers wrote.
	Record bool
}

// Validate names the first field that is wrong, with its value.
func (c Config) Validate() error {
	if !vendorName.MatchString(c.Name) {
		return fmt.Errorf("name %q: must be 1 to 32 characters of a-z, 0-9 and -", c.Name)
	}
	if c.Quota < 0 {
		return fmt.Errorf("vendor %s: quota %d: must not be negative", c.Name, c.Quota)
	}
	if err := c.Behaviour.Validate(); err != nil {
		return fmt.Errorf("vendor %s: behaviour: %w", c.Name, err)
	}
	return nil
}

// Defaults returns the three vendors of the embedded default: a, b and c with quotas of
// 60, 30 and 20 calls on the ports 9101, 9102 and 9103 of 127.0.0.1, a call taking 1 s on
// average. They accept any key.
func Defaults() []Config {
	return []Config{
		{Name: "a", Addr: "127.0.0.1:9101", Quota: 60, Seed: 1},
		{Name: "b", Addr: "127.0.0.1:9102", Quota: 30, Seed: 2},
		{Name: "c", Addr: "127.0.0.1:9103", Quota: 20, Seed: 3},
	}
}
