//go:build unix

package pgvtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// startFor bounds how long the server may take to be ready, on a busy machine.
const startFor = 2 * time.Minute

// The one server of the process.
var (
	mu      sync.Mutex
	current *Server
)

// Server is a PostgreSQL with pgvector. Its methods are for one test at a time.
type Server struct {
	program string // directory
	data    string
	port    string // "0" until it is known
	cmd     *exec.Cmd
	stdin   io.Closer
	paused  bool
}

// New returns the server, which runs. Where none is to be had the test fails and says the
// cure; it is never skipped.
func New(t testing.TB) *Server {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if current == nil {
		s, err := begin()
		if err != nil {
			t.Fatalf("a PostgreSQL with pgvector for the test: %v: %v", err, errCure)
		}
		current = s
	}
	t.Cleanup(func() { current.Start(t) }) // as it was found
	return current
}

// Own returns a server that ends with the test, for packages whose TestMain is another's.
func Own(t testing.TB) *Server {
	t.Helper()
	s, err := begin()
	if err != nil {
		t.Fatalf("a PostgreSQL with pgvector for the test: %v: %v", err, errCure)
	}
	t.Cleanup(func() {
		if err := s.remove(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func begin() (*Server, error) {
	program, err := fetch(context.Background())
	if err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp("", "sluice-pgv-")
	if err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	s := &Server{program: program, data: data, port: "0"}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(data))
	}
	return s, nil
}

// URL returns where the server is. All connections share one session, so nothing is prepared
// in it under a name, and one connection is as good as many.
func (s *Server) URL() string {
	return "postgres://postgres@127.0.0.1:" + s.port + "/postgres?sslmode=disable&default_query_exec_mode=exec&pool_max_conns=2"
}

// Kill ends the server at once; its data stays.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
}

// Pause lets the server do nothing: connections stay, and nobody answers.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.paused = true
}

// Start lets the server run again after Kill or Pause, at the same address.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if s.paused {
		s.paused = false
		if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if s.cmd != nil {
		return
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) start() error {
	cmd := exec.Command("node", filepath.Join(s.program, "server.mjs"), filepath.Join(s.data, "pg"), s.port)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	late := time.AfterFunc(startFor, func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	late.Stop()
	port, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !ready {
		_ = cmd.Process.Kill()
		return fmt.Errorf("the server says %q: %w, %w: %s", line, err, cmd.Wait(), said.String())
	}
	s.cmd, s.stdin, s.port = cmd, stdin, port
	return nil
}

// end kills the process. That it was killed is no fault.
func (s *Server) end() error {
	if s.cmd == nil {
		return nil
	}
	err := errors.Join(s.cmd.Process.Kill(), s.stdin.Close())
	_ = s.cmd.Wait()
	s.cmd, s.paused = nil, false
	return err
}

func (s *Server) remove() error { return errors.Join(s.end(), os.RemoveAll(s.data)) }

// Main runs the tests of a package, stops the server, and only then looks for goroutines that
// are left. It is the body of a TestMain and does not return.
func Main(m *testing.M) {
	code := m.Run()
	if current != nil {
		if err := current.remove(); err != nil {
			fmt.Fprintln(os.Stderr, "pgvtest:", err)
			code = max(code, 1)
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "pgvtest: goroutines left by tests:", err)
		code = 1
	}
	os.Exit(code)
}
