//go:build unix

package drill

import (
	"fmt"
	"syscall"
)

// backlog says how many connections may wait for Accept.
func (d *door) backlog(n int) error {
	raw, err := d.SyscallConn()
	if err != nil {
		return fmt.Errorf("reach the listening socket: %w", err)
	}
	var fault error
	if err := raw.Control(func(fd uintptr) { fault = syscall.Listen(int(fd), n) }); err != nil {
		return fmt.Errorf("reach the listening socket: %w", err)
	}
	if fault != nil {
		return fmt.Errorf("set the backlog: %w", fault)
	}
	return nil
}
