//go:build unix

package pgchild

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is one running server. Its fields after started are set once done is closed.
type process struct {
	cmd  *exec.Cmd
	said *lines
	done chan struct{}
	err  error // how it ended; nil when it exited with 0
}

// spawn starts cmd from a thread that lives until the command has ended: the kernel reports the death of the *thread*
// to the child, and Go would end an idle one. A command that cannot be started is a process that has ended.
func spawn(cmd *exec.Cmd, said *lines) *process {
	p := &process{cmd: cmd, said: said, done: make(chan struct{})}
	cmd.Stderr = said
	// Orphaned backends of a killed postmaster hold the pipe open.
	cmd.WaitDelay = time.Second
	started := make(chan struct{})
	go func() {
		defer close(p.done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p.err = cmd.Start()
		close(started)
		if p.err == nil {
			p.err = cmd.Wait()
		}
	}()
	<-started
	return p
}

// stop asks for a fast shutdown, which lets no client go on but writes everything out, and grows less patient. It
// returns once the process has ended, and tells whether it did so in good order.
func (p *process) stop() (orderly bool) {
	for i, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, 15 * time.Second}, {syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, time.Minute}} {
		if p.cmd.Process != nil {
			_ = p.cmd.Process.Signal(step.signal) // it has ended already: seen below
		}
		wait := time.NewTimer(step.wait)
		select {
		case <-p.done:
			wait.Stop()
			return i == 0
		case <-wait.C:
		}
	}
	return false
}
