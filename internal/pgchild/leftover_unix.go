//go:build unix && !linux

package pgchild

import (
	"os/exec"
	"strconv"
	"strings"
)

// serves tells whether the process is a postmaster on data, by its command line.
func serves(pid int, data string) bool {
	out, err := exec.Command("ps", "-p", strconv.Itoa(pid), "-o", "command=").Output()
	return err == nil && strings.Contains(string(out), "postgres") && strings.Contains(string(out), data)
}
