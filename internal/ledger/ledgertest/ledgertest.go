// Package ledgertest gives tests real PostgreSQL databases. A test process has one private server, started by the
// first test that asks; each test has a database of its own, copied from one that is migrated.
//
// SLUICE_TEST_PG set to 15 or 18 pins the server's major version, which is fetched where it is missing and can be.
package ledgertest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"sluice/internal/ledger"
)

// The one server of the process: all its tests share it, whoever comes first.
var (
	mu      sync.Mutex
	current *cluster
)

// New returns a migrated, empty ledger on a database of its own, which ends with the test. Without a server the test
// fails and says the cure; it is never skipped.
func New(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), ledger.Config{URL: URL(t), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// URL returns the connection string of a migrated, empty database that ends with the test.
func URL(t testing.TB) string {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatalf("a database for the test: %v", err)
	}
	url, name, err := c.create(t.Context())
	if err != nil {
		t.Fatalf("a database for the test: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := c.drop(ctx, name); err != nil {
			t.Errorf("drop %s: %v", name, err)
		}
	})
	return url
}

// Main runs the tests of a package, stops the server, and only then looks for goroutines that are left, so that the
// server's own are none of them. It is the body of a TestMain and does not return. A process that ends without it ends
// its server too; the files are removed by a later one.
func Main(m *testing.M, options ...goleak.Option) {
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "ledgertest:", err)
		code = max(code, 1)
	}
	if code == 0 {
		if err := goleak.Find(options...); err != nil {
			fmt.Fprintln(os.Stderr, "ledgertest: goroutines left by tests:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// shared starts the server at the first call. A failed start is not tried again by every test.
func shared() (*cluster, error) {
	mu.Lock()
	defer mu.Unlock()
	if current == nil {
		major, err := pinnedMajor()
		if err != nil {
			return nil, err
		}
		current = start(major)
	}
	return current, current.fault
}

func stop() error {
	mu.Lock()
	defer mu.Unlock()
	if current == nil {
		return nil
	}
	err := current.stop()
	current = nil
	return err
}

func pinnedMajor() (int, error) {
	text := os.Getenv("SLUICE_TEST_PG")
	if text == "" {
		return 0, nil
	}
	major, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("SLUICE_TEST_PG is %q: give a major version such as 15", text)
	}
	return major, nil
}
