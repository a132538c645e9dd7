//go:build linux

package rival

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// What tells a child of this test binary what it is, and which vendor it stands before.
const (
	roleKey   = "SLUICE_RIVAL_ROLE"
	vendorKey = "SLUICE_RIVAL_VENDOR"
)

// child is a process that was started here.
type child struct {
	cmd   *exec.Cmd
	said  syncBuffer // on standard error
	ended chan struct{}
}

// syncBuffer may be written by the child's pipe while it is read.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *syncBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start runs cmd until the end of t. The kernel ends it when this process is killed; for
// that the thread that started it must live as long as it does.
func start(t testing.TB, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &c.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		defer close(c.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it was killed, or said why it ended
		}
	}()
	if err := <-started; err != nil {
		<-c.ended
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-c.ended
	})
	return c
}

// play starts this binary in a role, and returns the addresses that it says it listens on.
func play(t testing.TB, role string, env ...string) (c *child, urls []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), roleKey+"="+role), env...)
	cmd.Stdout = in
	c = start(t, cmd)
	_ = in.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the %s says nothing (%v): %s", role, err, c.said.String())
	}
	return c, strings.Fields(line)
}

// listening says on standard output where a child listens.
func listening(urls ...string) error {
	_, err := io.WriteString(os.Stdout, strings.Join(urls, " ")+"\n")
	return err
}

// cpu is what all threads of a process have used so far, to the nanosecond.
func (c *child) cpu() (time.Duration, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", c.cmd.Process.Pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("no thread of %s is there: %w", c.cmd.Path, errors.Join(err, errors.New(c.said.String())))
	}
	var sum time.Duration
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			return 0, fmt.Errorf("read the time of a thread: %w", err)
		}
		ran, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", thread, err)
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// ownCPU is what this process has used so far.
func ownCPU() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("read what this process has used: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}
