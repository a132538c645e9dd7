package main

import (
	"os"
	"testing"

	"sluice/internal/queue/queuetest"
)

func TestMain(m *testing.M) {
	if code, child := crashChild(); child {
		os.Exit(code)
	}
	queuetest.Main(m)
}
