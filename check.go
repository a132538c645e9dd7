package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/ledger"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// checkCmd validates what can be validated before a start.
type checkCmd struct {
	Rules       string `help:"Rules file; none: the shipped rules." env:"SLUICE_RULES"`
	NATSURL     string `help:"Remote NATS (empty: embedded, which is not checked)." name:"nats-url" env:"SLUICE_NATS_URL"`
	NATSCreds   string `help:"Credentials file of the remote NATS." name:"nats-creds" env:"SLUICE_NATS_CREDS"`
	NATSCA      string `help:"File with the authorities of the remote NATS servers' certificates." name:"nats-ca" env:"SLUICE_NATS_CA"`
	DatabaseURL string `help:"PostgreSQL (empty: the private child, which is not checked)." name:"database-url" env:"SLUICE_DATABASE_URL"`
}

// reachLimit is how long a dependency may take to answer a check.
const reachLimit = 5 * time.Second

// Run returns every fault, one a line.
func (c *checkCmd) Run(ctx context.Context, out io.Writer) error {
	name, doc, err := readRules(c.Rules)
	if err != nil {
		return err
	}
	r, err := rules.Parse(name, doc)
	if err != nil {
		return err
	}
	faults := []error{c.nats(ctx), c.database(ctx)}
	simulated := !reachable(r, os.Getenv)
	for _, v := range r.Vendors {
		if !simulated {
			faults = append(faults, reachVendor(ctx, v))
		}
	}
	faults = append(faults, reachCarrier(ctx, r), checkAlertHooks(r))
	if err := errors.Join(faults...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: no fault (%d vendors%s)\n", name, len(r.Vendors),
		map[bool]string{true: ", simulated: no key of theirs is set"}[simulated])
	return err
}

func (c *checkCmd) nats(ctx context.Context) error {
	if c.NATSURL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	cfg := queue.RemoteConfig{URL: c.NATSURL, Creds: c.NATSCreds, CA: c.NATSCA, Log: zerolog.Nop()}
	if err := cfg.Validate(); err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	nc, err := queue.Connect(ctx, cfg)
	if err != nil {
		return fmt.Errorf("nats: %s", oneLine(err))
	}
	nc.Close()
	return nil
}

func (c *checkCmd) database(ctx context.Context) error {
	if c.DatabaseURL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	book, err := ledger.Open(ctx, ledger.Config{URL: c.DatabaseURL})
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	defer book.Close()
	if err := book.Ping(ctx); err != nil {
		return fmt.Errorf("database: %s", oneLine(err))
	}
	return nil
}

// oneLine puts the text of an error that has a line for each address that was tried,
// often the same twice, into one line.
func oneLine(err error) string {
	var parts []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSpace(line); !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}

// reachVendor lists a vendor's models with its key: the cheapest call that shows that
// both the address and the key are good.
func reachVendor(ctx context.Context, v rules.Vendor) error {
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	var faults []error
	for _, e := range v.Endpoints {
		key := os.Getenv(e.KeyEnv)
		if e.KeyEnv != "" && key == "" {
			faults = append(faults, fmt.Errorf("vendor %s: environment variable %s is not set", v.Name, e.KeyEnv))
			continue
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(e.URL, "/")+"/models", nil)
		if err != nil {
			faults = append(faults, fmt.Errorf("vendor %s: %w", v.Name, err))
			continue
		}
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			faults = append(faults, fmt.Errorf("vendor %s: %w", v.Name, err))
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode >= http.StatusBadRequest {
			faults = append(faults, fmt.Errorf("vendor %s: %s answers %s", v.Name, e.URL, resp.Status))
		}
	}
	return errors.Join(faults...)
}
