//go:build unix

package load

import "syscall"

// mostFiles returns how many files this process may open. Go raises the soft limit to the
// hard one as the process starts.
func mostFiles() (most uint64, known bool) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, false
	}
	return uint64(l.Cur), true
}
