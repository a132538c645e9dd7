package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"sluice/internal/password"
)

// settings are the flags and environment variables of a process. Flags win.
type settings struct {
	Listen            string        `help:"Address that the HTTP server listens on." env:"SLUICE_LISTEN" default:"127.0.0.1:8080"`
	Data              string        `help:"Directory of everything that must survive a restart." env:"SLUICE_DATA" default:"./data" type:"path"`
	Roles             string        `help:"What this process does: a comma list of api, dispatcher, recorder (empty: all)." env:"SLUICE_ROLES"`
	NATSURL           string        `help:"Remote NATS, a comma list (empty: embedded); tls:// asks for TLS." name:"nats-url" env:"SLUICE_NATS_URL"`
	NATSCreds         string        `help:"Credentials file of the remote NATS." name:"nats-creds" env:"SLUICE_NATS_CREDS"`
	NATSCA            string        `help:"File with the authorities of the remote NATS servers' certificates." name:"nats-ca" env:"SLUICE_NATS_CA"`
	DatabaseURL       string        `help:"PostgreSQL (empty: a private child)." name:"database-url" env:"SLUICE_DATABASE_URL"`
	PGVectorURL       string        `help:"PostgreSQL with pgvector that finds passages by meaning (empty: in memory)." name:"pgvector-url" env:"SLUICE_PGVECTOR_URL"`
	Rules             string        `help:"Rules file, read at first start; afterwards the stored revision governs." env:"SLUICE_RULES"`
	AdminPassword     string        `help:"Password of the operator admin (unset: generated and printed once)." env:"SLUICE_ADMIN_PASSWORD"`
	PublicURL         string        `help:"Address under which customers reach this server." env:"SLUICE_PUBLIC_URL"`
	ShutdownDelay     time.Duration `help:"How long an api that was told to stop says so in /readyz and still takes messages, so that load balancers look elsewhere first." env:"SLUICE_SHUTDOWN_DELAY" default:"0s"`
	LogLevel          string        `help:"trace, debug, info, warn or error." env:"SLUICE_LOG_LEVEL" default:"info"`
	LogFormat         string        `help:"console or json (unset: console on a terminal)." env:"SLUICE_LOG_FORMAT"`
	DevTenantKey      string        `help:"Secret key of the tenant demo, verbatim." env:"SLUICE_DEV_TENANT_KEY" hidden:""`
	DevPublishableKey string        `help:"Publishable key of the tenant demo, verbatim." env:"SLUICE_DEV_PUBLISHABLE_KEY" hidden:""`
}

// maxShutdownDelay leaves the other stages most of stopTimeout.
const maxShutdownDelay = 10 * time.Second

// minDevKey is the shortest key that may be given by environment.
const minDevKey = 16

// validate names the setting that is wrong and its value, secrets excepted.
func (s settings) validate() error {
	var faults []error
	faults = append(faults, s.validateCluster())
	for name, key := range map[string]string{
		"SLUICE_DEV_TENANT_KEY": s.DevTenantKey, "SLUICE_DEV_PUBLISHABLE_KEY": s.DevPublishableKey,
	} {
		if key != "" && len(key) < minDevKey {
			faults = append(faults, fmt.Errorf("%s: must have at least %d characters, has %d", name, minDevKey, len(key)))
		}
	}
	if s.PublicURL != "" {
		if u, err := url.Parse(s.PublicURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			faults = append(faults, fmt.Errorf("SLUICE_PUBLIC_URL: must be an absolute http or https URL, is %q", s.PublicURL))
		}
	}
	if n := utf8.RuneCountInString(s.AdminPassword); n > password.Longest {
		faults = append(faults, fmt.Errorf("SLUICE_ADMIN_PASSWORD: must have at most %d characters, has %d", password.Longest, n))
	}
	if s.ShutdownDelay < 0 || s.ShutdownDelay > maxShutdownDelay {
		faults = append(faults, fmt.Errorf("SLUICE_SHUTDOWN_DELAY: must be from 0s to %s, is %s", maxShutdownDelay, s.ShutdownDelay))
	}
	if s.LogFormat != "" && s.LogFormat != "console" && s.LogFormat != "json" {
		faults = append(faults, fmt.Errorf("SLUICE_LOG_FORMAT: must be console or json, is %q", s.LogFormat))
	}
	if _, err := zerolog.ParseLevel(s.LogLevel); err != nil {
		faults = append(faults, fmt.Errorf("SLUICE_LOG_LEVEL: %q is no level", s.LogLevel))
	}
	return errors.Join(faults...)
}

// clustered reports whether the process works on a NATS cluster that others use too.
func (s settings) clustered() bool { return s.NATSURL != "" }

// validateCluster names what does not go together.
func (s settings) validateCluster() error {
	r, err := parseRoles(s.Roles)
	if err != nil {
		return err
	}
	var faults []error
	switch {
	case !s.clustered() && !r.all():
		faults = append(faults, errors.New("SLUICE_ROLES: roles apart need a NATS that all processes reach: set SLUICE_NATS_URL"))
	case !s.clustered() && s.NATSCreds+s.NATSCA != "":
		faults = append(faults, errors.New("SLUICE_NATS_CREDS, SLUICE_NATS_CA: are for a remote NATS: set SLUICE_NATS_URL"))
	case s.clustered() && r.database() && s.DatabaseURL == "":
		faults = append(faults, errors.New("SLUICE_DATABASE_URL: on a cluster the roles api and recorder need a database that all processes reach"))
	case s.clustered() && s.DevTenantKey+s.DevPublishableKey != "":
		faults = append(faults, fmt.Errorf("SLUICE_DEV_TENANT_KEY, SLUICE_DEV_PUBLISHABLE_KEY: only the embedded default has a tenant %s; use `sluice tenant add`", demoTenant))
	}
	if scheme, _, found := strings.Cut(s.DatabaseURL, "://"); found && scheme != "postgres" && scheme != "postgresql" {
		faults = append(faults, fmt.Errorf("SLUICE_DATABASE_URL: must begin with postgres://, not %s://", scheme))
	}
	if scheme, _, _ := strings.Cut(s.PGVectorURL, "://"); s.PGVectorURL != "" && scheme != "postgres" && scheme != "postgresql" {
		faults = append(faults, errors.New("SLUICE_PGVECTOR_URL: must begin with postgres://"))
	}
	for name, file := range map[string]string{"SLUICE_NATS_CREDS": s.NATSCreds, "SLUICE_NATS_CA": s.NATSCA} {
		if file != "" {
			if _, err := os.Stat(file); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return errors.Join(faults...)
}

// logger returns the process's logger, on standard error. The terminal's lines for
// people go to standard output.
func (s settings) logger() zerolog.Logger {
	zerolog.ErrorFieldName = "err"
	level, err := zerolog.ParseLevel(s.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	console := s.LogFormat == "console" || s.LogFormat == "" && isatty.IsTerminal(os.Stderr.Fd())
	if console {
		return zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: "15:04:05.000"}).Level(level).With().Timestamp().Logger()
	}
	return zerolog.New(os.Stderr).Level(level).With().Timestamp().Logger()
}

// socket returns where commands reach the instance that runs on the data directory.
func (s settings) socket() string { return filepath.Join(s.Data, "sluice.sock") }
