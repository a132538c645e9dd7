//go:build e2e || cluster

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// binary is the program under test, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	if broker, err := serveBroker(); broker {
		if err != nil {
			fmt.Fprintln(os.Stderr, "nats node:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "slu")
	if err == nil {
		binary = filepath.Join(dir, "sluice")
		build := exec.Command("go", "build", "-o", binary, "../..")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build sluice:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}
