package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats-server/v2/server"

	"sluice/internal/rules"
)

// compose is what the test looks at of compose.yaml.
type compose struct {
	Services map[string]struct {
		Image       string            `yaml:"image"`
		Command     []string          `yaml:"command"`
		Environment map[string]string `yaml:"environment"`
		Volumes     []string          `yaml:"volumes"`
		HealthCheck map[string]any    `yaml:"healthcheck"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
}

// TestTheComposeFileHasEveryRole, with a health check each, and names only files and
// volumes that are there.
func TestTheComposeFileHasEveryRole(t *testing.T) {
	raw, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	if err := yaml.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"api", "dispatcher", "recorder", "sim", "nats-1", "nats-2", "nats-3", "postgres", "prometheus", "grafana"} {
		s, found := c.Services[name]
		if !found || s.Image == "" || len(s.HealthCheck) == 0 {
			t.Errorf("service %s is %+v, want an image and a health check", name, s)
		}
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, err := os.Stat(source); strings.HasPrefix(source, "./") && err != nil {
				t.Errorf("service %s: %v", name, err)
			}
			if _, found := c.Volumes[source]; !strings.HasPrefix(source, "./") && !found {
				t.Errorf("service %s names the volume %s, which is not declared", name, source)
			}
		}
	}
	for _, role := range []string{"api", "dispatcher", "recorder"} {
		s := settings{
			Roles: c.Services[role].Environment["SLUICE_ROLES"], NATSURL: c.Services[role].Environment["SLUICE_NATS_URL"],
			DatabaseURL: c.Services[role].Environment["SLUICE_DATABASE_URL"], LogLevel: "info",
		}
		if err := s.validate(); err != nil || s.Roles != role || !s.clustered() {
			t.Errorf("service %s: %v, settings %+v", role, err, s)
		}
	}
}

func TestTheDeployedRulesAreGood(t *testing.T) {
	raw, err := os.ReadFile("deploy/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, err := rules.Parse("deploy/rules.yaml", raw)
	if err != nil || r.Replicas != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	f, err := openRemoteFleet(r, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	f.close()
}

// TestTheDeployedNATSConfigurationIsGood reads it as the server does.
func TestTheDeployedNATSConfigurationIsGood(t *testing.T) {
	t.Setenv("NODE", "nats-2")
	opts, err := server.ProcessConfigFile("deploy/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	var routes []string
	for _, r := range opts.Routes {
		routes = append(routes, r.Host)
	}
	if opts.ServerName != "nats-2" || !opts.JetStream || opts.Cluster.Name != "sluice" || !slices.Contains(routes, "nats-3:6222") {
		t.Errorf("%s, JetStream %v, cluster %s, routes %v", opts.ServerName, opts.JetStream, opts.Cluster.Name, routes)
	}
}
