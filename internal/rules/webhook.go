package rules

import (
	"maps"
	"net/url"
	"slices"

	"sluice/internal/chat"
)

// Webhooks says what is sent to tenants' own servers.
type Webhooks struct {
	// AllowPrivate lets webhooks go to addresses inside: loopback, private and the like. For
	// development. Defaults to false.
	AllowPrivate bool `yaml:"allow_private"`
	// Endpoints are where what belongs to no ticket goes, by the tenant's name: that a session
	// was handed to people, that a batch has ended. Defaults to none.
	Endpoints map[string]string `yaml:"endpoints"`
}

// maxEndpoint is the longest URL, in bytes.
const maxEndpoint = 2048

func (d *document) checkWebhooks(w Webhooks) {
	for _, name := range slices.Sorted(maps.Keys(w.Endpoints)) {
		path := "webhooks.endpoints." + keyIn(name)
		if !chat.IsTenantName(name) {
			d.fault(path, "must be the name of a tenant: 1 to 32 of a-z 0-9 -")
		}
		u, err := url.Parse(w.Endpoints[name])
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || len(w.Endpoints[name]) > maxEndpoint {
			d.fault(path, "must be an http or https URL without a user name, of at most %d bytes", maxEndpoint)
		}
	}
}
