//go:build unix

package pgchild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

// childDir tells a re-executed test process to be a supervisor on that directory.
const childDir = "SLUICE_PGCHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(supervise(dir))
	}
	goleak.VerifyTestMain(m)
}

func supervise(dir string) int {
	s, err := Open(context.Background(), testConfig(dir))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("ready")
	if err := s.Run(context.Background()); err != nil {
		return 1
	}
	return 0
}

// testConfig takes the major version from the environment, so that every test runs on the oldest and the newest.
func testConfig(dir string) Config {
	major, _ := strconv.Atoi(os.Getenv("SLUICE_TEST_PG"))
	return Config{Dir: dir, Major: major, Unsafe: true, Log: zerolog.Nop()}
}

// shortDir is a directory whose path leaves room for a socket, with a parent that any account can pass.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgc")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// open starts a server and returns it with the function that stops it, which the end of the test calls as well.
func open(t *testing.T, cfg Config) (*Server, func()) {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return s, stop
}

func exec1(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

func mustExec(t *testing.T, url, sql string) {
	t.Helper()
	if err := exec1(t.Context(), url, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func query[T any](t *testing.T, url, sql string) (out T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.QueryRow(t.Context(), sql).Scan(&out), conn.Close(t.Context())); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// postmaster reads the process id of the server on the one data directory below dir.
func postmaster(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "pg*", "data", "postmaster.pid"))
	if err != nil || len(files) != 1 {
		t.Fatalf("pid files: %v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func kill9(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// await polls until ok, or fails the test with what it waited for.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	done, err := poll(t.Context(), 30*time.Second, ok)
	if err != nil || !done {
		t.Fatalf("%s: not within 30 s (%v)", what, err)
	}
}

// anyProgram is a server of the machine, for tests that need none in particular.
func anyProgram(t *testing.T) program {
	t.Helper()
	p, err := choose(t.Context(), must(testConfig(t.TempDir()).withDefaults()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// sleeper is a living process that is no postgres.
func sleeper(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}
