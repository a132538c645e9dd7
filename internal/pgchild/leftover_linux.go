package pgchild

import (
	"fmt"
	"os"
	"path/filepath"
)

// serves tells whether the process is a postmaster on data: it keeps its data directory as its working directory. One
// that cannot be looked into belongs to another user and so is not ours.
func serves(pid int, data string) bool {
	proc := fmt.Sprintf("/proc/%d", pid)
	exe, err := os.Readlink(proc + "/exe")
	if err != nil || filepath.Base(exe) != "postgres" {
		return false
	}
	there, err := os.Stat(proc + "/cwd")
	if err != nil {
		return false
	}
	here, err := os.Stat(data)
	return err == nil && os.SameFile(here, there)
}
