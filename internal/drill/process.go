package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// leaveFor is how long a child that was told to stop may take.
const leaveFor = 30 * time.Second

// process is a child of this one.
type process struct {
	name   string
	cmd    *exec.Cmd
	out    *said
	errOut *said
	ended  chan struct{}
}

// spawn starts a program. Of our environment it gets what every program needs; env comes
// on top. It is started from a thread that lives as long as it does: the kernel tells a
// child of the death of the thread, and ends it when we are killed.
func spawn(name, program string, env []string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(program, args...), out: &said{}, errOut: &said{}, ended: make(chan struct{})}
	for _, key := range []string{"PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME"} {
		if value, set := os.LookupEnv(key); set {
			p.cmd.Env = append(p.cmd.Env, key+"="+value)
		}
	}
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.errOut
	p.cmd.WaitDelay = 2 * time.Second // what a killed process started may hold its pipes
	bindToParent(p.cmd)
	started := make(chan error, 1)
	go func() {
		defer close(p.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the state tells
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// kill is kill -9. It returns once the process has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// stop tells the process to end in good order, and kills it when that takes too long.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	patience := time.NewTimer(leaveFor)
	defer patience.Stop()
	select {
	case <-p.ended:
		return nil
	case <-patience.C:
		p.kill()
		return fmt.Errorf("%s did not end within %s", p.name, leaveFor)
	}
}

// cpu returns the processor time of a process that has ended.
func (p *process) cpu() time.Duration {
	if p.cmd.ProcessState == nil {
		return 0
	}
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// await looks at cond every 10 ms until it is true. It fails when the process ends first,
// after limit, or with ctx.
func (p *process) await(ctx context.Context, limit time.Duration, cond func() bool) error {
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-p.ended:
			return fmt.Errorf("%s has ended: %s", p.name, p.errOut.tail())
		case <-end.C:
			return fmt.Errorf("%s is not ready after %s: %s", p.name, limit, p.errOut.tail())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// mostSaid is how much of a child's output is kept.
const mostSaid = 1 << 20

// said keeps the first of what a child says, and the newest line. It is safe for
// concurrent use.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	last string
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if room := mostSaid - s.text.Len(); room > 0 {
		s.text.Write(b[:min(room, len(b))])
	}
	if line := strings.TrimSpace(string(b)); line != "" {
		s.last = line
	}
	return len(b), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *said) tail() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
