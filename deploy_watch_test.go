package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"sluice/internal/alert"
	"sluice/internal/chat"
	"sluice/internal/metrics"
	"sluice/internal/rules"
)

// promRule is one rule for Prometheus.
type promRule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Keep        string            `yaml:"keep_firing_for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func promRules(t *testing.T) []promRule {
	t.Helper()
	var doc struct {
		Groups []struct {
			Rules []promRule `yaml:"rules"`
		} `yaml:"groups"`
	}
	readYAML(t, "deploy/prometheus/alerts.yml", &doc)
	if len(doc.Groups) != 1 {
		t.Fatalf("%d groups", len(doc.Groups))
	}
	return doc.Groups[0].Rules
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestPrometheusWarnsOfWhatSluiceDoes holds the rules against the alerts: each name once, its
// severity, its time, and the threshold that is shipped.
func TestPrometheusWarnsOfWhatSluiceDoes(t *testing.T) {
	t.Parallel()
	d := rules.DefaultAlerts()
	expected := map[alert.Name]struct{ threshold, after, keep string }{
		alert.PermitsBusy:   {fmt.Sprintf("> %v", d.PermitsBusy.Above), "1m", "1m"},
		alert.PermitsSpent:  {fmt.Sprintf("> %v", d.PermitsSpent.Above), "30s", "1m"},
		alert.Refusals:      {fmt.Sprintf("> %d", d.Refusals), "", "1m"},
		alert.BreakerOpen:   {"== 2", "", "1m"},
		alert.LevelHigh:     {fmt.Sprintf(">= %d", d.Level), "", "1m"},
		alert.WaitLong:      {"> max by (lane) (sluice_lane_max_wait_seconds)", "", "1m"},
		alert.PromiseBroken: {"[10m:15s]) > 0", "", ""},
		alert.DeadLetter:    {"[10m:15s]) > 0", "", ""},
		alert.NodeLost:      {"> 0", "", ""},
		alert.RecorderLag:   {fmt.Sprintf("> %v", d.RecorderLag.Seconds()), "", "1m"},
	}
	if d.PermitsBusy.For != time.Minute || d.PermitsSpent.For != 30*time.Second || d.Lasts != 10*time.Minute || alert.Quiet != time.Minute {
		t.Error("the times of the rules are not those that are shipped")
	}
	var names, known []string
	for _, r := range promRules(t) {
		names = append(names, r.Alert)
		want, found := expected[alert.Name(r.Alert)]
		if !found || !strings.HasSuffix(r.Expr, want.threshold) || r.For != want.after || r.Keep != want.keep {
			t.Errorf("%s: %q for %q, kept for %q; want %+v", r.Alert, r.Expr, r.For, r.Keep, want)
		}
		if r.Labels["severity"] != string(alert.Name(r.Alert).Severity()) || r.Annotations["summary"] == "" || r.Annotations["summary_zh"] == "" {
			t.Errorf("%s: %v %v", r.Alert, r.Labels, r.Annotations)
		}
	}
	for _, n := range alert.Names() {
		known = append(known, string(n))
	}
	slices.Sort(names)
	slices.Sort(known)
	ruled := rules.AlertNames()
	slices.Sort(ruled)
	if !slices.Equal(names, known) || !slices.Equal(ruled, known) {
		t.Errorf("Prometheus has %v, the rules know %v, there are %v", names, ruled, known)
	}
}

// panel is as much of a panel as its rules are about.
type panel struct {
	ID         int
	Type       string
	Title      string
	Datasource struct{ Type, UID string }
	GridPos    struct{ H, W, X, Y int }
	Targets    []struct {
		Expr       string
		Datasource struct{ UID string }
	}
	FieldConfig struct{ Defaults struct{ Unit string } }
}

type dashboard struct {
	UID    string
	Title  string
	Panels []panel
}

func sluiceDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	raw, err := os.ReadFile("deploy/grafana/dashboards/sluice.json")
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTheDashboardIsWhole: every panel asks the one data source that is there, has a unit and
// a place of its own.
func TestTheDashboardIsWhole(t *testing.T) {
	t.Parallel()
	var sources struct {
		Datasources []struct{ UID, URL string }
	}
	readYAML(t, "deploy/grafana/provisioning/datasources/prometheus.yml", &sources)
	if len(sources.Datasources) != 1 {
		t.Fatalf("%+v", sources)
	}
	d, ids, taken := sluiceDashboard(t), map[int]bool{}, map[[2]int]int{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q is not one of its own", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != 0 || x >= 24 {
					t.Errorf("panel %q stands where panel %d does, or outside", p.Title, other)
				}
				taken[[2]int{x, y}] = p.ID
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 || p.Datasource.UID != sources.Datasources[0].UID {
			t.Errorf("panel %q: unit %q, %d targets, data source %q", p.Title, p.FieldConfig.Defaults.Unit, len(p.Targets), p.Datasource.UID)
		}
		for _, target := range p.Targets {
			if target.Datasource.UID != p.Datasource.UID {
				t.Errorf("panel %q asks %q too", p.Title, target.Datasource.UID)
			}
		}
	}
	if d.UID != "sluice" || len(ids) < 25 {
		t.Errorf("dashboard %q has %d panels", d.UID, len(ids))
	}
}

var metricName = regexp.MustCompile(`\b(?:sluice|process|go)_[a-z_]+\b`)

// TestWhatIsDrawnAndWarnedOfIsCounted holds every metric of the dashboard and the rules
// against the page that has counted everything once.
func TestWhatIsDrawnAndWarnedOfIsCounted(t *testing.T) {
	t.Parallel()
	page := "\n" + everythingCounted(t)
	asked := map[string]string{}
	for _, r := range promRules(t) {
		for _, name := range metricName.FindAllString(r.Expr, -1) {
			asked[name] = "alert " + r.Alert
		}
	}
	for _, p := range sluiceDashboard(t).Panels {
		for _, target := range p.Targets {
			for _, name := range metricName.FindAllString(target.Expr, -1) {
				asked[name] = "panel " + p.Title
			}
		}
	}
	if len(asked) < 25 {
		t.Errorf("only %d metrics are asked for", len(asked))
	}
	for name, by := range asked {
		if !strings.Contains(page, "\n"+name+" ") && !strings.Contains(page, "\n"+name+"{") {
			t.Errorf("%s asks for %s, which is not there", by, name)
		}
	}
	docs, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range asked {
		short := "`_" + strings.TrimPrefix(strings.TrimSuffix(name, "_bucket"), "sluice_")
		if strings.HasPrefix(name, "sluice_") && !strings.Contains(string(docs), short) && !strings.Contains(string(docs), "`"+strings.TrimSuffix(name, "_bucket")) {
			t.Errorf("docs/operations.md does not name %s", name)
		}
	}
}

// everythingCounted is the page of a process that has counted and known everything once.
func everythingCounted(t *testing.T) string {
	t.Helper()
	m, now, one, second := metrics.New(), time.Now(), 1, time.Second
	m.Answered(&chat.Ticket{Status: chat.Answered, Lane: chat.High, AcceptedAt: now, DecidedAt: &now, StartedAt: &now, EndedAt: &now})
	m.Refused("demo", "queue_full")
	m.Granted("a", chat.High, 0)
	m.TurnedAway("a", "demo", chat.High, "wait")
	m.Called("a", metrics.Call{FirstToken: 1})
	m.ToolCalled("x", "good")
	m.Texted(&chat.Notice{Provider: "outbox", State: chat.NoticeSent})
	counts := map[string]map[string]uint64{"a": {"hit": 1}}
	m.Stand(func(context.Context) metrics.Standing {
		return metrics.Standing{
			Lanes: map[chat.Lane]metrics.Lane{chat.High: {}}, Vendors: map[string]metrics.Account{"a": {}}, Tools: map[string]metrics.Account{"tool:x": {}},
			Endpoints: map[string]map[string]int{"a": {"http://a": 1}}, Level: &one, Sockets: &one, DeadLetters: &one, Nodes: &one, RecorderLag: &second,
			Promises: map[chat.PromiseStatus]int{chat.PromiseBroken: 0}, Alerts: map[metrics.Alert]int{{Name: "node_lost", Severity: "critical"}: 0},
			Caches: counts, Probes: counts,
		}
	})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// TestPrometheusAsksEveryRole, at the port where they listen, and reads rules that are there.
func TestPrometheusAsksEveryRole(t *testing.T) {
	t.Parallel()
	var c struct {
		RuleFiles []string `yaml:"rule_files"`
		Scrape    []struct {
			Job string `yaml:"job_name"`
			DNS []struct {
				Names []string `yaml:"names"`
				Port  int      `yaml:"port"`
			} `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "deploy/prometheus/prometheus.yml", &c)
	var services compose
	readYAML(t, "compose.yaml", &services)
	mounted := strings.Join(services.Services["prometheus"].Volumes, "\n")
	for _, file := range c.RuleFiles {
		if !strings.Contains(mounted, ":"+file+":ro") {
			t.Errorf("%s is not mounted", file)
		}
	}
	if len(c.Scrape) != 1 || len(c.Scrape[0].DNS) != 1 || c.Scrape[0].DNS[0].Port != 8080 || c.Scrape[0].Job != "sluice" {
		t.Fatalf("%+v", c)
	}
	for _, role := range []string{"api", "dispatcher", "recorder"} {
		if !slices.Contains(c.Scrape[0].DNS[0].Names, role) || services.Services[role].Image == "" {
			t.Errorf("%s is not asked", role)
		}
	}
	var provider struct {
		Providers []struct {
			Options struct{ Path string }
		}
	}
	readYAML(t, "deploy/grafana/provisioning/dashboards/sluice.yml", &provider)
	path := provider.Providers[0].Options.Path
	if !strings.Contains(strings.Join(services.Services["grafana"].Volumes, "\n"), "./deploy/grafana/dashboards:"+path+":ro") ||
		services.Services["grafana"].Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] != filepath.Join(path, "sluice.json") {
		t.Errorf("the dashboards are not mounted at %s", path)
	}
}
