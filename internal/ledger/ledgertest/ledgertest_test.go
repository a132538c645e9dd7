package ledgertest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/ledger"
	"sluice/internal/pgchild"
)

func TestMain(m *testing.M) { Main(m) }

func TestEachTestHasItsOwnDatabase(t *testing.T) {
	t.Parallel()
	a, b := New(t), New(t)
	row := ledger.TicketRow{Tenant: "demo", ID: "t_1", AcceptedAt: time.Now(), Body: []byte("{}")}
	if err := a.Record(t.Context(), []ledger.TicketRow{row}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Ticket(t.Context(), "demo", "t_1"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("one test reads the other's row: %v", err)
	}
}

func TestStartWithoutAServerSaysTheCureAndLeavesNothing(t *testing.T) {
	t.Parallel()
	c := start(99)
	if !errors.Is(c.fault, pgchild.ErrNoServer) {
		t.Errorf("fault %v, want ErrNoServer", c.fault)
	}
	if _, err := os.Stat(c.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", c.dir, err)
	}
}

func TestStartRemovesWhatAKilledProcessLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	abandoned := filepath.Join(os.TempDir(), prefix+"1")
	young := filepath.Join(os.TempDir(), prefix+"2")
	for _, dir := range []string{abandoned, young} {
		if err := os.MkdirAll(filepath.Join(dir, "pg15"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-2 * strangerBy)
	if err := os.Chtimes(abandoned, before, before); err != nil {
		t.Fatal(err)
	}
	removeAbandoned()
	if _, err := os.Stat(abandoned); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", abandoned, err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a directory that may be in use: %v", err)
	}
}
