//go:build e2e || cluster

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Keys of the tenant demo in every instance that a test starts.
const (
	tenantKey      = "sk_end_to_end_0123456789"
	publishableKey = "pk_end_to_end_0123456789"
)

// noDatabase is the address of a database that nobody serves: most tests need none.
const noDatabase = "SLUICE_DATABASE_URL=postgres://sluice@127.0.0.1:1/sluice"

// process is one run of the binary.
type process struct {
	cmd    *exec.Cmd
	begun  time.Time
	ended  chan struct{}
	stdout *output
	stderr *output
}

// spawn starts the binary with args. Of this process's environment it gets what every
// program needs; env comes on top. It is killed at the end of the test, and before the
// test binary runs out of time.
func spawn(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return launch(t, binary, env, args...)
}

// launch is spawn for any program.
func launch(t *testing.T, program string, env []string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	if limit, set := t.Deadline(); set {
		ctx, cancel = context.WithDeadline(context.Background(), limit.Add(-15*time.Second))
	}
	p := &process{cmd: exec.CommandContext(ctx, program, args...), ended: make(chan struct{}), stdout: newOutput(), stderr: newOutput()}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME"} {
		if value, set := os.LookupEnv(name); set {
			p.cmd.Env = append(p.cmd.Env, name+"="+value)
		}
	}
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	// What a killed process started may hold its pipes a little longer.
	p.cmd.WaitDelay = 5 * time.Second
	p.begun = time.Now()
	if err := p.cmd.Start(); err != nil {
		cancel()
		t.Fatalf("start %s %s: %v", program, strings.Join(args, " "), err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the state tells
	}()
	t.Cleanup(func() {
		cancel()
		<-p.ended
	})
	return p
}

// signal sends a signal; a process that has ended is no fault.
func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// exit waits for the end and returns the exit code, -1 after a signal.
func (p *process) exit(t *testing.T, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(limit):
		t.Fatalf("%s has not ended after %s; it said:\n%s", p.cmd, limit, p.stderr.tail(20))
		return 0
	}
}

// run lets the binary do one command and returns its exit code and what it said.
func run(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := spawn(t, env, args...)
	code = p.exit(t, 30*time.Second)
	return code, p.stdout.String(), p.stderr.String()
}

// oneLine asserts a refusal: exit code 1, and one line on standard error that holds all words.
func oneLine(t *testing.T, code int, stderr string, words ...string) {
	t.Helper()
	if code != 1 || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d and %q, want 1 and one line", code, stderr)
	}
	for _, word := range words {
		if !strings.Contains(stderr, word) {
			t.Errorf("%q does not say %q", stderr, word)
		}
	}
}

// output keeps what a process wrote and when each line began.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	at   []time.Time // of each write
	ends []int       // length of text after each write
}

func newOutput() *output { return &output{} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.text.Write(b)
	o.at, o.ends = append(o.at, time.Now()), append(o.ends, o.text.Len())
	return n, err
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// when returns the time at which a text had been written.
func (o *output) when(text string) (time.Time, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := bytes.Index(o.text.Bytes(), []byte(text))
	if at < 0 {
		return time.Time{}, false
	}
	for i, end := range o.ends {
		if at < end {
			return o.at[i], true
		}
	}
	return time.Time{}, false
}

func (o *output) tail(lines int) string {
	all := strings.Split(strings.TrimSpace(o.String()), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// await asks cond until it is true, and fails the test after limit.
func await(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	if !poll(limit, cond) {
		t.Fatalf("%s: not after %s", what, limit)
	}
}

// poll asks cond every 10 ms until it is true, and reports false after limit.
func poll(limit time.Duration, cond func() bool) bool {
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-end.C:
			return false
		}
	}
	return true
}
