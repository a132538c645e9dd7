package drill

import (
	"os/exec"
	"syscall"
)

// bindToParent has the kernel kill the child when this process dies, and keeps a terminal's
// signals from it: they are for us to pass on.
func bindToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
