package pgchild

import "syscall"

// dieWithParent has the kernel stop the server in good order when the thread that started it ends, so also after a
// kill -9 of this process.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }

// mapRoot runs the process in a user namespace where root appears as who's account; on disk all stays root's.
func mapRoot(attr *syscall.SysProcAttr, who identity) {
	attr.Cloneflags = syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: who.uid, HostID: 0, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: who.gid, HostID: 0, Size: 1}}
}
