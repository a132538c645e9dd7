//go:build !pgvector

package pgvector

import (
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"sluice/internal/ledger/ledgertest"
)

func TestMain(m *testing.M) { ledgertest.Main(m) }

// The servers of the ledger's tests have no pgvector. With the build tag pgvector the other
// tests run, on one that has.
func TestADatabaseWithoutTheExtensionSaysTheCure(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{URL: ledgertest.URL(t), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		err := s.Prepare(t.Context())
		if !errors.Is(err, ErrNoExtension) || !strings.Contains(err.Error(), "CREATE EXTENSION vector") || strings.Contains(err.Error(), "\n") {
			t.Errorf("the cure is %v", err)
		}
	}
}

func TestAFaultOfTheConfigurationNamesItsField(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for field, cfg := range map[string]Config{
		"URL": {}, "Wait": {URL: "postgres://x", Wait: -1}, "Batch": {URL: "postgres://x", Batch: maxBatch + 1}, "url": {URL: "postgres://u:" + secret + "@h/d?sslmode=perhaps"},
	} {
		_, err := Open(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), field) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
