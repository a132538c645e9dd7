package main

import (
	"fmt"
	"io"
	"strings"
)

// banner says in a few lines what runs where, and shows the secrets of this start.
func (n *node) banner(out io.Writer) {
	base := "http://" + n.http.Addr().String()
	line := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(out, "  %-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	_, _ = fmt.Fprintln(out, "Sluice is ready.")
	if n.settings.clustered() {
		line("roles", "%s", n.roles)
		line("health", "%s/readyz", base)
		return
	}
	line("chat", "%s/", base)
	line("api", "%s/docs", base)
	if n.secrets.tenantKey != "" {
		line("key", "%s (tenant %s, secret)", n.secrets.tenantKey, demoTenant)
	} else {
		line("key", "shown at the first start; a new one: sluice tenant key %s", demoTenant)
	}
	line("", "%s (tenant %s, publishable)", n.secrets.publishable, demoTenant)
	if n.secrets.adminPassword != "" {
		line("admin", "%s/admin user %s, password %s (shown once)", base, firstAdmin, n.secrets.adminPassword)
	} else {
		line("admin", "%s/admin", base)
	}
	var vendors []string
	for _, v := range n.engine.rules.Vendors {
		vendors = append(vendors, fmt.Sprintf("%s %d of %d", v.Name, v.Limit(), v.Quota))
	}
	if n.fleet.sim != nil {
		line("vendors", "%s permits, simulated: %s/sim/stats", strings.Join(vendors, ", "), n.fleet.sim.ControlURL())
	} else {
		line("vendors", "%s permits", strings.Join(vendors, ", "))
	}
	line("data", "%s", n.dir.path)
}
