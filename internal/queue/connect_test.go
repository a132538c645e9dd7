package queue

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/queue/queuetest"
)

// enters connects and asks for JetStream.
func enters(t *testing.T, cfg RemoteConfig) *nats.Conn {
	t.Helper()
	nc, err := Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.AccountInfo(t.Context()); err != nil {
		t.Errorf("JetStream: %v", err)
	}
	return nc
}

// keptOut connects twice: the same line says why it may not, and contains all words.
func keptOut(t *testing.T, cfg RemoteConfig, kind error, words ...string) {
	t.Helper()
	var said string
	for range 2 {
		nc, err := Connect(t.Context(), cfg)
		if err == nil {
			nc.Close()
			t.Fatal("was let in")
		}
		if kind != nil && !errors.Is(err, kind) {
			t.Errorf("%v, want %v", err, kind)
		}
		text := err.Error()
		if strings.Contains(text, "\n") || said != "" && said != text {
			t.Errorf("%q after %q, want the same line", text, said)
		}
		said = text
	}
	for _, word := range words {
		if !strings.Contains(said, word) {
			t.Errorf("%q does not say %q", said, word)
		}
	}
}

// secure runs a server that shows a certificate, and returns its address.
func secure(t *testing.T, cert *tls.Certificate) string {
	t.Helper()
	ns := queuetest.Serve(t, &server.Options{
		TLS: true, TLSConfig: &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12},
	})
	return fmt.Sprintf("tls://localhost:%d", queuetest.Port(t, ns))
}

func TestAServerOfAKnownAuthorityIsEntered(t *testing.T) {
	t.Parallel()
	known := queuetest.NewAuthority(t)
	addr := secure(t, known.Issue("localhost", time.Now().Add(time.Hour)))
	for _, url := range []string{addr, strings.Replace(addr, "tls:", "nats:", 1)} {
		nc := enters(t, RemoteConfig{URL: url, CA: known.File})
		if _, err := nc.TLSConnectionState(); err != nil {
			t.Errorf("%s: %v, want TLS", url, err)
		}
	}
}

func TestAServerThatCannotBeTrustedIsNotEntered(t *testing.T) {
	t.Parallel()
	known, other := queuetest.NewAuthority(t), queuetest.NewAuthority(t)
	good := known.Issue("localhost", time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		cert *tls.Certificate
		ca   string
		word string
	}{
		"without the authority":   {good, "", "unknown authority"},
		"with another authority":  {good, other.File, "unknown authority"},
		"under another host name": {known.Issue("nats.example", time.Now().Add(time.Hour)), known.File, "valid for nats.example, not localhost"},
		"after its time":          {known.Issue("localhost", time.Now().Add(-time.Hour)), known.File, "it is valid from"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keptOut(t, RemoteConfig{URL: secure(t, c.cert), CA: c.ca}, ErrCertificate, c.word, "localhost:")
		})
	}
}

func TestTLSIsNotGivenUp(t *testing.T) {
	t.Parallel()
	plain := fmt.Sprintf("127.0.0.1:%d", queuetest.Port(t, queuetest.Serve(t, &server.Options{})))
	for _, cfg := range []RemoteConfig{
		{URL: "tls://" + plain},
		{URL: "nats://" + plain, CA: queuetest.NewAuthority(t).File},
		{URL: "nats://" + plain + ",tls://127.0.0.1:1"}, // asked for once, asked for everywhere
	} {
		keptOut(t, cfg, nats.ErrSecureConnWanted, plain)
	}
}

func TestFilesThatCannotBeUsedAreNamed(t *testing.T) {
	t.Parallel()
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("neither\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{garbage, filepath.Join(t.TempDir(), "missing")} {
		keptOut(t, RemoteConfig{URL: "127.0.0.1:1", CA: file}, ErrAuthority, file)
		keptOut(t, RemoteConfig{URL: "127.0.0.1:1", Creds: file}, ErrCreds, file)
	}
}

func unlimited(c *jwt.AccountClaims) {
	c.Limits.DiskStorage, c.Limits.MemoryStorage = jwt.NoLimit, jwt.NoLimit
}

func TestOnlyGoodCredentialsAreAccepted(t *testing.T) {
	t.Parallel()
	operator, stranger := queuetest.NewOperator(t), queuetest.NewOperator(t)
	ours, theirs := operator.Account("ours", unlimited), stranger.Account("theirs", unlimited)
	url := fmt.Sprintf("nats://127.0.0.1:%d", queuetest.Port(t, queuetest.Serve(t, operator.Options())))

	right, _ := ours.Creds(func(*jwt.UserClaims) {})
	enters(t, RemoteConfig{URL: url, Creds: right})

	unsigned, _ := ours.Creds(func(*jwt.UserClaims) {})
	unsign(t, unsigned)
	expired, _ := ours.Creds(func(c *jwt.UserClaims) { c.Expires = time.Now().Add(-time.Minute).Unix() })
	foreign, _ := theirs.Creds(func(*jwt.UserClaims) {})
	for name, file := range map[string]string{"unsigned": unsigned, "expired": expired, "another's": foreign, "none": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keptOut(t, RemoteConfig{URL: url, Creds: file}, ErrCreds, "127.0.0.1:", "Authorization Violation")
		})
	}
}

// unsign puts another signature into a credentials file.
func unsign(t *testing.T, file string) {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	signed := regexp.MustCompile(`(?m)^(ey[^.\n]*\.[^.\n]*\.)[^.\n]*$`)
	if !signed.Match(doc) {
		t.Fatal("no token in the credentials file")
	}
	none := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0}, 64))
	if err := os.WriteFile(file, signed.ReplaceAll(doc, []byte("${1}"+none)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEachAddressIsTriedAndNamedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	dead := "nats://us:secret@127.0.0.1:1, 127.0.0.1:2"
	keptOut(t, RemoteConfig{URL: dead}, nil, "127.0.0.1:1: nobody listens there; 127.0.0.1:2: nobody listens there")
	if _, err := Connect(t.Context(), RemoteConfig{URL: dead}); strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("%v shows the password", err)
	}
	port := queuetest.Port(t, queuetest.Serve(t, &server.Options{}))
	nc := enters(t, RemoteConfig{URL: fmt.Sprintf("%s,nats://127.0.0.1:%d", dead, port)})
	if pool := nc.ServerPool(); len(pool) != 3 {
		t.Errorf("%d servers in the pool, want all 3", len(pool))
	}
	for _, url := range []string{"", "nats://a,,nats://b", "nats://us:sec%ret@a", "nats://us:secret#@a"} {
		err := RemoteConfig{URL: url}.Validate()
		if err == nil || !strings.Contains(err.Error(), "URL: address") || strings.Contains(err.Error(), "sec") {
			t.Errorf("%q: %v, want the address that is none, and no password", url, err)
		}
	}
}
