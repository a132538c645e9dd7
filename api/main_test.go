package api

import (
	"testing"

	"sluice/internal/ledger/ledgertest"
)

func TestMain(m *testing.M) { ledgertest.Main(m) }
