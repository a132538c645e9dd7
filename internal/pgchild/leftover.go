//go:build unix

package pgchild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clearLeftover ends a server that outlived the process that started it, and takes a recycled process id out of the
// way. The lock that the caller of Open holds proves that nobody uses such a server any more.
func clearLeftover(ctx context.Context, data string) error {
	path := filepath.Join(data, "postmaster.pid")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 0 {
		// Half written; postgres would refuse it for ever.
		return os.Remove(path)
	}
	if serves(pid, data) {
		return endLeftover(ctx, pid, data)
	}
	if syscall.Kill(pid, 0) != nil {
		return nil // postgres itself clears up after a dead one
	}
	// Another process has the number now, which postgres takes for a living server. It ignores its own parent's, so
	// that goes in; the rest of the file stays, for by it postgres finds backends that still hold shared memory.
	return os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"+rest), 0o600)
}

// endLeftover stops a postmaster that is no child of this process: in good order, then at once.
func endLeftover(ctx context.Context, pid int, data string) error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, 15 * time.Second}, {syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, 5 * time.Second}} {
		if err := syscall.Kill(pid, step.signal); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		gone, err := poll(ctx, step.wait, func() bool { return !serves(pid, data) })
		if gone || err != nil {
			return err
		}
	}
	return fmt.Errorf("stop the former postgres, process %d: still there", pid)
}

// poll asks done every 20 ms until it is true or the time is over. The error is the context's.
func poll(ctx context.Context, limit time.Duration, done func() bool) (bool, error) {
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if done() {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-end.C:
			return false, nil
		case <-tick.C:
		}
	}
}
