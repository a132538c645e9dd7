//go:build cluster

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestProcessesStartInAnyOrder: they wait for NATS, for enough of its nodes and for the
// first rules, say so, and work once all is there.
func TestProcessesStartInAnyOrder(t *testing.T) {
	c := newCluster(t)
	addr := fmt.Sprintf("127.0.0.1:%d", freePorts(t, 1)[0])
	early := c.launch("api", "SLUICE_LISTEN="+addr, "SLUICE_RULES=")
	early.base = "http://" + addr
	await(t, 10*time.Second, "/livez answers before NATS is there", func() bool {
		resp, err := early.http.Get(early.base + "/livez")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	if err := early.call(call{url: "/readyz"}, nil); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("/readyz without NATS: %v, want 503", err)
	}
	code, out, stderr := run(t, nil, "ready", "--listen", addr)
	if code != 1 || !strings.Contains(out, "waiting for nats") || !strings.Contains(stderr, "not ready") {
		t.Errorf("`sluice ready` without NATS: exit code %d, %q, %q", code, out, stderr)
	}

	await(t, 5*time.Second, "the log tells what is waited for", func() bool { _, said := early.stderr.when("waiting"); return said })
	c.startBroker(0)
	poll(time.Second, func() bool { return false })
	c.startBroker(1)
	c.startBroker(2)
	await(t, 30*time.Second, "it waits for the rules", func() bool {
		_, out, _ := run(t, nil, "ready", "--listen", addr)
		return strings.Contains(out, "waiting for rules")
	})
	if n := strings.Count(early.stderr.String(), `"message":"waiting"`); n == 0 || n > 5 {
		t.Errorf("%d lines in the log about waiting, want one for each reason:\n%s", n, early.stderr.tail(10))
	}
	rest := c.start("dispatcher", "recorder")
	c.ready(early)
	c.makeTenant(early)
	early.key = c.key
	if code, out, _ := run(t, nil, "ready", "--listen", addr); code != 0 {
		t.Errorf("`sluice ready` of a ready process: exit code %d, %q", code, out)
	}
	got := early.end(early.ask(question{Message: "Where is my parcel?"}).TicketID, 30*time.Second)
	if got.Route != "agent" {
		t.Errorf("%+v, want an answer of the agent", got)
	}
	for _, i := range append(rest, early) {
		i.stop()
	}
}

// TestAProcessThatWaitsCanBeStopped ends it with exit code 0.
func TestAProcessThatWaitsCanBeStopped(t *testing.T) {
	c := newCluster(t)
	i := c.launch("dispatcher")
	await(t, 10*time.Second, "it waits", func() bool { _, said := i.stderr.when("waiting"); return said })
	i.stop()
}

// TestSettingsThatDoNotGoTogetherAreRefused, with one line each.
func TestSettingsThatDoNotGoTogetherAreRefused(t *testing.T) {
	nats := "SLUICE_NATS_URL=nats://127.0.0.1:1"
	for name, c := range map[string]struct{ env, words []string }{
		"a role that is none":     {[]string{nats, "SLUICE_ROLES=api,cook"}, []string{"SLUICE_ROLES", "cook"}},
		"a role without NATS":     {[]string{"SLUICE_ROLES=api"}, []string{"SLUICE_NATS_URL"}},
		"an api without database": {[]string{nats, "SLUICE_ROLES=api"}, []string{"SLUICE_DATABASE_URL"}},
		"keys of demo":            {[]string{nats, "SLUICE_ROLES=dispatcher", "SLUICE_DEV_TENANT_KEY=" + tenantKey}, []string{"SLUICE_DEV_TENANT_KEY"}},
		"credentials not there":   {[]string{nats, "SLUICE_ROLES=dispatcher", "SLUICE_NATS_CREDS=/nowhere"}, []string{"SLUICE_NATS_CREDS", "/nowhere"}},
		"credentials for nothing": {[]string{"SLUICE_NATS_CREDS=/nowhere"}, []string{"SLUICE_NATS_CREDS"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := run(t, append(c.env, "SLUICE_DATA="+newDir(t)), "serve", "--listen", "127.0.0.1:0")
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			for _, word := range c.words {
				if !strings.Contains(stderr, word) {
					t.Errorf("%q does not say %q", stderr, word)
				}
			}
		})
	}
}
