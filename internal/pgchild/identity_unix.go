//go:build unix && !linux

package pgchild

import "syscall"

// dieWithParent can do nothing here: the next start stops a server that outlived its parent.
func dieWithParent(*syscall.SysProcAttr) {}

// mapRoot has no counterpart here; the attempt fails as root always does.
func mapRoot(*syscall.SysProcAttr, identity) {}
