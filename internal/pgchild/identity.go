//go:build unix

package pgchild

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// identity is who the server runs as. PostgreSQL refuses to be root.
type identity struct {
	uid, gid int  // of the account the server takes itself for
	owner    int  // uid that its files belong to on disk
	group    int  // gid likewise
	mapped   bool // in a user namespace, where this process's root is uid
	self     bool // as this process, which is not root
}

var errNoAccount = errors.New("running as root, and there is neither an account postgres nor nobody")

// identify finds out who can run p in home by trying it: as this process itself, and for root first as another account
// (cannot pass a parent directory that is root's alone), then as root that is called otherwise inside a user namespace
// (passes everywhere, but containers often forbid it).
func identify(ctx context.Context, p program, home string) (identity, error) {
	if os.Geteuid() != 0 {
		return identity{uid: os.Getuid(), gid: os.Getgid(), owner: os.Getuid(), group: os.Getgid(), self: true}, nil
	}
	uid, gid, err := account()
	if err != nil {
		return identity{}, err
	}
	var faults []error
	for _, who := range []identity{
		{uid: uid, gid: gid, owner: uid, group: gid},
		{uid: uid, gid: gid, mapped: true},
	} {
		err := who.try(ctx, p, home)
		if err == nil {
			return who, nil
		}
		faults = append(faults, err)
	}
	return identity{}, fmt.Errorf("run postgres from root: as another account: %w; in a user namespace: %w; "+
		"start as another user or set SLUICE_DATABASE_URL", faults[0], faults[1])
}

// account looks for the user that packagers make for the server, else for the one that owns nothing.
func account() (uid, gid int, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return uid, gid, nil
		}
	}
	return 0, 0, errNoAccount
}

func (who identity) try(ctx context.Context, p program, home string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, "postgres"), "--version")
	cmd.Dir = home
	cmd.SysProcAttr = who.attr()
	return cmd.Run()
}

// attr starts a process as who, in a process group of its own: a Ctrl-C at the terminal must stop this process first,
// which may still have rows to write.
func (who identity) attr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(attr)
	switch {
	case who.mapped:
		mapRoot(attr, who)
	case !who.self:
		attr.Credential = &syscall.Credential{Uid: uint32(who.uid), Gid: uint32(who.gid)}
	}
	return attr
}

// own gives a tree to who. A tree that already is who's is left alone; another root identity may have made it.
func (who identity) own(dir string) error {
	if who.self {
		return nil
	}
	top, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("own %s: %w", dir, err)
	}
	if st, ok := top.Sys().(*syscall.Stat_t); ok && int(st.Uid) == who.owner {
		return nil
	}
	// The top comes last, so that a killed run is repeated.
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		return os.Lchown(path, who.owner, who.group)
	})
	if err == nil {
		err = os.Lchown(dir, who.owner, who.group)
	}
	if err != nil {
		return fmt.Errorf("own %s: %w", dir, err)
	}
	return nil
}
