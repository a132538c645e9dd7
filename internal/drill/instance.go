package drill

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"sluice/internal/chat"
)

// readyFor is how long a start may take.
const readyFor = 40 * time.Second

// noDatabase is the address of a database that nobody serves: most drills need none.
const noDatabase = "postgres://sluice@127.0.0.1:1/sluice"

// origin is the page that the tenants' sockets are opened from.
const origin = "https://drill.example"

// instance is a serving process.
type instance struct {
	*process
	dir  string
	base string // of its HTTP
}

// tenant is a tenant with its keys.
type tenant struct {
	Name        string `json:"name"`
	Secret      string `json:"secret_key"`
	Publishable string `json:"publishable_key"`
}

// launch starts `sluice serve` and does not wait for it. env comes on top of what every
// instance of a drill is given.
func launch(name, binary, dir string, env ...string) (*instance, error) {
	all := append([]string{
		"SLUICE_LISTEN=127.0.0.1:0", "SLUICE_DATA=" + dir, "SLUICE_LOG_FORMAT=json", "SLUICE_LOG_LEVEL=warn",
		"SLUICE_DATABASE_URL=" + noDatabase,
	}, env...)
	p, err := spawn(name, binary, all, "serve")
	if err != nil {
		return nil, err
	}
	return &instance{process: p, dir: dir}, nil
}

var baseLine = regexp.MustCompile(`(?m)^ +(?:api|health) +(http://[^/\s]+)/`)

// ready waits until the instance works.
func (i *instance) ready(ctx context.Context) error {
	return i.await(ctx, readyFor, func() bool {
		m := baseLine.FindStringSubmatch(i.out.String())
		if m != nil {
			i.base = m[1]
		}
		return m != nil
	})
}

// addTenant adds a tenant through the command socket of the instance.
func (i *instance) addTenant(ctx context.Context, name string, lane chat.Lane) (t tenant, err error) {
	body, err := json.Marshal(map[string]any{"name": name, "lane": lane, "origins": []string{origin}})
	if err != nil {
		return t, fmt.Errorf("encode tenant: %w", err)
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", filepath.Join(i.dir, "sluice.sock"))
		},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sluice/tenants", bytes.NewReader(body))
	if err != nil {
		return t, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return t, fmt.Errorf("add tenant %s: %w", name, err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode != http.StatusCreated {
		err = fmt.Errorf("status %d: %s", res.StatusCode, strings.TrimSpace(string(raw)))
	}
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	if err != nil {
		return t, fmt.Errorf("add tenant %s: %w", name, err)
	}
	return t, nil
}

// readiness asks /readyz: its status code, and the state of the check of that name.
func (i *instance) readiness(ctx context.Context, name string) (status int, state string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, i.base+"/readyz", nil)
	if err != nil {
		return 0, "", fmt.Errorf("make request: %w", err)
	}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("ask /readyz: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	var body struct {
		Checks []struct{ Name, State string } `json:"checks"`
	}
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		return 0, "", fmt.Errorf("read /readyz: %w", err)
	}
	for _, c := range body.Checks {
		if c.Name == name {
			state = c.State
		}
	}
	return res.StatusCode, state, nil
}

// writeRules writes a rules file into dir and returns its name.
func writeRules(dir, text string) (string, error) {
	file := filepath.Join(dir, "rules.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write rules: %w", err)
	}
	return file, nil
}
